"""Stored jobs of `triage run`, read for the harness, and decision points harvested from their traffic."""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import evals.triage.offline_environment  # noqa: F401 - before LangGraph and LangSmith
from evals.cassettes.calls_and_misses import Ledger
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.player import Tape
from evals.errors import ConfigurationError
from evals.models.base import Closed
from evals.models.case import Case, RouteNode
from evals.models.suite import Variant
from evals.shared.git_command import DistrustError, GitError, git
from evals.triage.dataset.case_code import entries, write_files
from evals.triage.graph_trial import CaseTarget, IndexedCode, watched
from evals.triage.trial_clients import replay_clients, runner
from triage.agents.agent import ISSUE_LIMIT
from triage.checkpoints import open_jobs
from triage.codebase.checkout_index import CHANGED
from triage.codebase.source_files import MAX_FILE_BYTES, source_files, sources_of
from triage.errors import TriageError
from triage.issue import discussion_block
from triage.job_model_requests import StoredRequest, kept
from triage.job_trace import visit_data
from triage.run_options import RunOptions
from triage.state import BugTriageState
from triage.stored_jobs import JobStep, StoredJob, decided, history, one_job

# of the issue, of the code it stands in, of an answer given, or of no matter to the next one
LEFT_OUT: Final = frozenset(
    {
        "job_id",
        "schema_version",
        "issue_title",
        "issue_body",
        "issue_url",
        "issue_discussion",
        "repository",
        "codebase_evidence",
    }
    | {"next_node", "routed_node", "vetoes", "supervisor_reasoning", "forced_fallback", "corrections"}
    | {"error_messages"}
)


def harvest(case: Case, variant: Variant, cassette: Cassette, repository: IndexedCode) -> list[dict[str, Any]]:
    """The state before each decision of the replayed trial, as fields of `triage.state.BugTriageState`.

    As far as the tape reaches: a decision nobody recorded has no state. Fields at their default are left out.
    """
    with runner() as loop:
        return loop.run(_harvest(case, variant, cassette, repository))


async def _harvest(case: Case, variant: Variant, cassette: Cassette, repository: IndexedCode) -> list[dict[str, Any]]:
    clients = replay_clients()
    try:
        watcher = await watched(CaseTarget.of(variant, clients, repository), case, Tape(cassette, Ledger()))
    finally:
        await clients.close()
    return [state.model_dump(mode="json", exclude=set(LEFT_OUT), exclude_defaults=True) for state in watcher.asked]


class JobQuestion(Closed):
    """A question the job has put to a person, and the answer."""

    question: str
    context: str
    answer: str


class ServedRequest(Closed):
    """One answered request: by whom, the path it went to, both bodies, when (ISO, UTC), and how long it took."""

    agent: str
    path: str
    request: dict[str, Any]
    response: dict[str, Any]
    at: str
    latency_ms: float


class LiveJob(Closed):
    """What is stored of a job. `repository` is what its requests call the code, `revision` the commit it stood at (""
    where that is not known), `states` what the supervisor was asked in, `served` the traffic, if it was kept."""

    name: str
    title: str
    body: str
    url: str
    repository: str
    revision: str
    route: tuple[RouteNode, ...]
    asked: tuple[JobQuestion, ...]
    states: tuple[dict[str, Any], ...]
    served: tuple[ServedRequest, ...]
    supervisor: str
    prompt: str | None
    plan: str | None
    guards: str
    max_iterations: int
    code: dict[str, str]
    """The text files an agent could read, by their path."""
    remarks: tuple[str, ...] = ()
    """What about the job a replay cannot know."""


# isort: split


def live_job(jobs: Path, name: str) -> LiveJob:
    """The job `name` of the file `jobs`, with the code it was about.

    Raises:
        ConfigurationError: there is no such job, it cannot be read, or its code is not there any more.
    """
    try:
        return asyncio.run(_read(jobs, name))
    except TriageError as error:
        raise ConfigurationError(str(error)) from error


async def _read(path: Path, name: str) -> LiveJob:
    job = await one_job(path, name)
    async with open_jobs(path) as jobs:
        steps = await history(jobs, name)
        served = [
            ServedRequest(
                agent=one.agent,
                path=one.path,
                request=json.loads(one.request),
                response=json.loads(one.response),
                at=one.at,
                latency_ms=round(one.seconds * 1000, 1),
            )
            for one in await kept(jobs.conn, name, StoredRequest)
        ]
    state, options = job.state, job.options
    answered = [exchange for exchange in state.human_exchanges if exchange.answer is not None]
    return LiveJob(
        name=name,
        title=state.issue_title,
        body=state.issue_body + discussion_block(state.issue_discussion),
        url=state.issue_url,
        repository=state.repository,
        revision=(options.revision or "").removesuffix(CHANGED),
        route=tuple(_route(steps)),
        asked=tuple(
            JobQuestion(question=one.question, context=one.context, answer=str(one.answer)) for one in answered
        ),
        states=tuple(_states(steps)),
        served=tuple(served),
        supervisor=str(options.supervisor),
        prompt=options.prompt,
        plan=options.plan,
        guards=options.guards or "hardened",
        max_iterations=state.max_iterations,
        code=code_of(options, options.checkouts),
        remarks=(*_remarks(job), *discussion_remarks(state)),
    )


def _route(steps: Sequence[JobStep]) -> Iterator[Any]:
    """The visits somebody decided on; the reviews a plan's machine makes of every result are none."""
    for n, step in enumerate(steps):
        for changes in step.changes:
            if not decided(changes):
                visit = visit_data(changes["visits"][0], n, changes, {})
                yield from () if visit["reviews"] else (visit["node"],)


def _states(steps: Sequence[JobStep]) -> Iterator[dict[str, Any]]:
    """The state before each decision, as `harvest` gives it: without what the supervisor chose in it."""
    for step in steps:
        if any(map(decided, step.changes)):
            yield step.before.model_dump(mode="json", exclude=set(LEFT_OUT), exclude_defaults=True)


def discussion_remarks(state: BugTriageState) -> Iterator[str]:
    """What a person should know of a case whose issue had comments."""
    if state.issue_discussion:
        yield "the comments of the issue stand at the end of its text"
        if len(state.issue_body + discussion_block(state.issue_discussion)) > ISSUE_LIMIT:
            yield "with its comments the issue is longer than a prompt shows: record the case to replay it"


def _remarks(job: StoredJob) -> Iterator[str]:
    if job.waiting or job.coming:
        yield f"the job has not come to its end ({job.standing}): its case ends there as well"
    if job.state.redirect_instructions:
        yield "the job had orders (--redirect), which no case has: a replay leaves the tape where they were first read"
    if not job.options.revision or job.options.revision.endswith(CHANGED):
        yield "the code is taken as it stands now: no commit says what it was when the job was begun"


def code_of(options: RunOptions, checkouts: Sequence[Path]) -> dict[str, str]:
    """What the search of a job could read, by the paths it saw: of each of its `checkouts`, in the folders of `--path`.

    Raises:
        ConfigurationError: a checkout or its commit is not there.
    """
    revisions = dict(zip(checkouts, options.revisions, strict=False))
    code: dict[str, str] = {}
    for source in sources_of(checkouts, json.loads(options.paths or "[]"), checked=False):
        below = f"{source.folder}/" if source.folder else ""
        name = f"{source.name}/" if source.name else ""
        texts = code_at(source.root, revisions.get(source.root, ""))
        code |= {name + path: text for path, text in texts.items() if path.startswith(below)}
    return code


def code_at(repo: Path, revision: str) -> dict[str, str]:
    """What the search could read: at the commit, or as it is now where there is none, or the job saw changes to it.

    Raises:
        ConfigurationError: the checkout or the commit is not there.
    """
    if not repo.is_dir():
        raise ConfigurationError(f"{repo}: the job's checkout is not there any more; put it back to make a case of it")
    if not revision or revision.endswith(CHANGED):
        return dict(source_files(repo))
    try:
        git(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except DistrustError as error:
        raise ConfigurationError(f"{repo}: {error}") from error
    except GitError as error:
        raise ConfigurationError(
            f"{repo}: has no commit {revision[:12]} any more, at which the job was begun; fetch it"
        ) from error
    try:
        found = [one for one in entries(repo, revision, below=True) if one.is_regular and one.size <= MAX_FILE_BYTES]
        with tempfile.TemporaryDirectory() as folder:
            write_files(repo, [one for one in found if one.path.isprintable()], Path(folder))
            return dict(source_files(Path(folder)))
    except GitError as error:
        raise ConfigurationError(f"{repo}: {revision[:12]} cannot be read ({error}); fetch it again") from error

"""A live job, read where `triage run` keeps it, as the harness can use it."""

import evals.subject.offline  # noqa: F401 - before LangGraph and LangSmith

# isort: split
import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evals.dataset.commits import entries, write_files
from evals.errors import ConfigurationError
from evals.models.live_job import Asked, LiveJob, Served
from evals.subject.harvest import LEFT_OUT
from triage.agents.agent import ISSUE_LIMIT
from triage.checkout import CHANGED
from triage.checkpoints import open_jobs
from triage.codebase.files import MAX_FILE_BYTES, source_files
from triage.discussion import discussion_block
from triage.errors import TriageError
from triage.git import DistrustError, GitError, git
from triage.history import Step, decided, history
from triage.shelf import StoredJob, one_job
from triage.state import BugTriageState
from triage.trace import visit_data
from triage.traffic import kept_traffic


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
            Served(
                agent=kept.agent,
                path=kept.path,
                request=json.loads(kept.request),
                response=json.loads(kept.response),
                at=kept.at,
                latency_ms=round(kept.seconds * 1000, 1),
            )
            for kept in await kept_traffic(jobs.conn, name)
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
        asked=tuple(Asked(question=one.question, context=one.context, answer=str(one.answer)) for one in answered),
        states=tuple(_states(steps)),
        served=tuple(served),
        supervisor=str(options.supervisor),
        prompt=options.prompt,
        plan=options.plan,
        guards=options.guards or "hardened",
        max_iterations=state.max_iterations,
        code=code_at(Path(str(options.repo)), options.revision or ""),
        remarks=(*_remarks(job), *discussion_remarks(state)),
    )


def _route(steps: Sequence[Step]) -> Iterator[Any]:
    """The visits somebody decided on; the reviews a plan's machine makes of every result are none."""
    for n, step in enumerate(steps):
        for changes in step.changes:
            if not decided(changes):
                visit = visit_data(changes["visits"][0], n, changes, {})
                yield from () if visit["reviews"] else (visit["node"],)


def _states(steps: Sequence[Step]) -> Iterator[dict[str, Any]]:
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
        found = [one for one in entries(repo, revision, below=True) if one.regular and one.size <= MAX_FILE_BYTES]
        with tempfile.TemporaryDirectory() as folder:
            write_files(repo, [one for one in found if one.path.isprintable()], Path(folder))
            return dict(source_files(Path(folder)))
    except GitError as error:
        raise ConfigurationError(f"{repo}: {revision[:12]} cannot be read ({error}); fetch it again") from error

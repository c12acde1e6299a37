"""One session of a job: drive the graph, write its files, say how it ended."""

import os
import shlex
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

import httpx
import uvicorn
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphRecursionError
from langgraph.types import Command
from openai import OpenAIError

from evals.shared.display_text import one_line
from triage.agent_server import Access, app, guarded
from triage.agents.web_search import NO_WEB
from triage.checkpoints import is_kept, open_jobs
from triage.codebase.checkout_index import revision_of
from triage.codebase.index import CodebaseIndex
from triage.codebase.source_files import repository_name, sources_of
from triage.errors import EXIT_OK, EXIT_OUTAGE, EXIT_UNFINISHED, EXIT_UNFOUNDED, InputError, TriageError
from triage.graph import DURABILITY, TriageGraph, build_graph, check_configuration, recursion_limit, trace_config
from triage.graph_configuration import Configuration
from triage.issue import Issue
from triage.job_budget import AnsweredRequest, Budget, OverBudgetError, Refusal, budget_of, over_budget, told
from triage.job_model_requests import Account, Traffic, keep, kept, reason
from triage.job_report import grave_caveats, missing_texts, texts_of, write_results
from triage.job_trace import write_trace
from triage.live_graph import index_of_repository, live_toolbox, settings_from_environment
from triage.plans.plan_files import plan_header
from triage.private_files import private_folder, remove_unused
from triage.run_in_thread import Told
from triage.run_options import RunOptions
from triage.settings import DEFAULT_JOBS, Settings
from triage.state import DEFAULT_MAX_ITERATIONS, BugTriageState, HumanExchange
from triage.stored_jobs import held

# The answer of the user, or None if nobody is there to answer.
Ask = Callable[[HumanExchange], str | None]
# Hears of every step: the node that acted, and what it changed.
Tell = Callable[[str, Mapping[str, Any]], None]
Given = BugTriageState | Command[None] | None
"""What a step starts with: a new job's state, an answer or a change to a stored one, or nothing."""


@dataclass(frozen=True)
class Job:
    """Where a job stands: its state, and the question it waits at (None: it is not waiting)."""

    state: BugTriageState
    waiting: HumanExchange | None
    finished: bool

    @property
    def unwritten(self) -> bool:
        """Whether the job is over because its writer failed: asking it again may still bring all texts."""
        tried = any(failure.agent_name == "writer" for failure in self.state.agent_errors)
        return self.finished and tried and bool(missing_texts(self.state))


def job_config(job_id: str, max_iterations: int, options: RunOptions) -> RunnableConfig:
    """The LangGraph config of a job: its thread, a recursion limit that fits its budget, what it runs with, and what
    its trace is called."""
    limit = recursion_limit(max_iterations, options.supervisor or "llm")
    kept = {"configurable": {"thread_id": job_id}, "recursion_limit": limit, "metadata": options.metadata()}
    return cast("RunnableConfig", kept | trace_config(job_id, options))


async def begun_with(jobs: BaseCheckpointSaver[str], job_id: str) -> RunOptions | None:
    """What the stored job of this name runs with; None if there is no such job."""
    kept = await jobs.aget_tuple({"configurable": {"thread_id": job_id}})
    return None if kept is None else RunOptions.from_metadata(kept.metadata)


async def stored(graph: TriageGraph, config: RunnableConfig) -> Job | None:
    """Where the job of this config was left; None if there is no such job."""
    snapshot = await graph.aget_state(config)
    if not snapshot.values:
        return None
    questions = [interrupt.value for task in snapshot.tasks for interrupt in task.interrupts]
    state = BugTriageState.model_validate(snapshot.values)
    return Job(state, questions[0] if questions else None, finished=not snapshot.next)


async def reopened(graph: TriageGraph, config: RunnableConfig, changes: Mapping[str, Any]) -> Given:
    """What a stored job goes on with, its state changed as said; one that only lacks the writer's texts is sent to the
    writer again, beside whatever the supervisor had in mind.

    Raises:
        InputError: the job is over, and there is nothing left that the changes could change.
    """
    job = await stored(graph, config)
    if job is not None and job.finished and not job.unwritten and changes:
        raise InputError("this job is over: leave --max-iterations and --redirect out for its results, or start anew")
    if job is None or not job.unwritten:
        return Command(update=dict(changes)) if changes else None
    again = {"next_node": "end", "routed_node": "writer", "selected_tasks": []}
    told = {"supervisor_reasoning": "Resumed: the writer is asked again.", **changes}
    await graph.aupdate_state(config, {**again, **told}, as_node="supervisor")
    return None


async def drive(graph: TriageGraph, config: RunnableConfig, first: Given, ask: Ask, tell: Tell) -> Job | None:
    """Run the job until it ends or `ask` has no answer. `first` is a new job's state, or what a stored one goes
    on with.

    The graph needs a checkpointer; every step is stored before the next begins. None: there is no such job.
    """
    if first is not None:
        await _step(graph, config, first, tell)
    while (job := await stored(graph, config)) is not None and not job.finished:
        answer = None if job.waiting is None else ask(job.waiting)
        if job.waiting is not None and answer is None:
            break
        await _step(graph, config, None if answer is None else Command(resume=answer), tell)
    return job


async def _step(graph: TriageGraph, config: RunnableConfig, given: Given, tell: Tell) -> None:
    async for update in graph.astream(given, config, stream_mode="updates", durability=DURABILITY):
        for node, changes in update.items():
            if not node.startswith("__") and changes is not None:  # a node that only waits is no step to tell of
                tell(node, changes)


def summary(account: Account, seconds: float) -> str:
    """What a sitting has asked for: answered calls, tokens as the endpoint counted them, their price, time; and of each
    cap how much the whole job has used."""
    tokens_in = sum(call.tokens_in for call in account.calls)
    tokens_out = sum(call.tokens_out for call in account.calls)
    refused = f" ({len(account.refusals)} refused or lost)" if account.refusals else ""
    tokens = f"{tokens_in:,} + {tokens_out:,} tokens"
    cap = f"; {account.budget.told()}" if account.budget else ""
    return f"{len(account.calls)} calls{refused}, {tokens}, {told(account.calls)}, {seconds:.0f} s{cap}"


def close(job: Job | None, options: RunOptions, how_to_resume: str, say: Callable[[str], None]) -> int:
    """Write what the job brought to its folder, say what it lacks; the exit code (see `triage.cli`)."""
    if job is None or not job.finished:
        say(f"waiting for an answer; {how_to_resume}")
        return EXIT_UNFINISHED
    floor, plan = options.floor(), plan_header(options.plan) if options.plan else None
    for path in write_results(Path(str(options.out)), job.state, plan, floor):
        say(f"wrote {path}")
    if missing := missing_texts(job.state):
        say(f"{_what_is_missing(job.state, missing)}{f'; {how_to_resume}' if job.unwritten else ''}")
        return EXIT_UNFINISHED
    if grave := grave_caveats(job.state, floor):
        say(too_little(grave))
        return EXIT_UNFOUNDED
    return EXIT_OK


def too_little(grave: Iterable[str]) -> str:
    """The grave caveats of a report in one line."""
    return f"the report rests on too little: {' '.join(grave)}".removesuffix(".")


def _what_is_missing(state: BugTriageState, missing: tuple[str, ...]) -> str:
    """Which texts were not written, and why."""
    failures = [failure.error for failure in state.agent_errors if failure.agent_name == "writer"]
    failures += [failure.error for failure in state.supervisor_errors]
    why = failures[-1] if failures else "the supervisor ended the job without one"
    what = "report" if texts_of(state).report is None else " and no ".join(missing)
    return f"no {what} was written ({why})"


@dataclass(frozen=True)
class JobRequest:
    """What the command line asks for; `issue` is None when the job `name` is to be resumed."""

    name: str
    issue: Issue | None
    options: RunOptions
    jobs: Path
    max_iterations: int | None = None
    redirects: tuple[str, ...] = ()
    repos_as_typed: tuple[str, ...] = ()
    account: Account = field(default_factory=Account)

    @property
    def how_to_resume(self) -> str:
        """What to type to go on with the job, or that it has to be begun anew."""
        if not is_kept(self.jobs, self.name):
            return "nothing of the job was kept yet: start it again"
        words = ["triage", "run", "--resume", "--job-id", self.name]
        words += [word for repo in self.repos_as_typed for word in ("--repo", repo)]
        words += ["--jobs", str(self.jobs)] if self.jobs != DEFAULT_JOBS else []
        return f"the job is kept: {shlex.join(words)}"


class Talk(Protocol):
    """Who is told how a sitting goes, and asked."""

    def ask(self, question: HumanExchange) -> str | None:
        """The answer, or None if nobody is there to answer."""

    def tell(self, node: str, changes: Mapping[str, Any]) -> None:
        """A step of the job."""

    def note(self, message: str) -> None:
        """What a sitting begins with, and what it took."""

    def say(self, message: str) -> None:
        """How it ended."""

    def bar(self) -> AbstractContextManager[Told]:
        """Shows how far a piece of work got that takes a while."""


@dataclass(frozen=True)
class Prepared:
    """What a sitting needs besides the stored job. All of it is checked, and nothing is written yet."""

    options: RunOptions
    settings: Settings
    configuration: Configuration
    index: CodebaseIndex
    budget: Budget | None


async def run_session(session: JobRequest, talk: Talk) -> int:
    """Run the job of `session` and return the exit code (see `triage.cli`).

    Raises:
        TriageError: wrong input or configuration; nothing was asked of the endpoint, and a job that is new has left no
            file and no folder.
    """
    begun = await _begun(session)
    with ExitStack() as open_until_the_end:
        if begun is not None:
            open_until_the_end.enter_context(held(session.jobs, session.name))
        prepared = await _prepared(session, begun, talk)
        open_until_the_end.enter_context(_room_in(session.jobs.parent, Path(str(prepared.options.out))))
        if begun is None:
            open_until_the_end.enter_context(held(session.jobs, session.name))
        return await _run(session, prepared, await _begun(session), talk)


async def _prepared(session: JobRequest, begun: RunOptions | None, talk: Talk) -> Prepared:
    options = _agreed(session, begun)
    settings = settings_from_environment(options.model)
    configuration = options.configuration()
    check_configuration(configuration)
    asked = [agent for agent in settings.models if (agent, options.supervisor) != ("supervisor", "rules")]
    budget = budget_of(options.max_cost, options.max_tokens, settings, asked)
    index = await index_of_repository(options.sources(), talk.note, talk.bar)
    options = replace(begun.as_revised(options) if begun else options.revised(revision_of), base_url=settings.base_url)
    return Prepared(options, settings, configuration, index, budget)


async def _run(session: JobRequest, prepared: Prepared, begun: RunOptions | None, talk: Talk) -> int:
    options, index = prepared.options, prepared.index
    account, since = session.account, time.monotonic()
    account.budget = prepared.budget
    async with AsyncExitStack() as opened:
        jobs = await opened.enter_async_context(open_jobs(session.jobs))
        account.kept = partial(keep, jobs.conn, session.name)
        if account.budget:
            account.budget.count(await kept(jobs.conn, session.name, AnsweredRequest))
            account.budget.count(await kept(jobs.conn, session.name, Refusal))
        traffic = Traffic(jobs.conn, session.name) if options.record else None
        toolbox = await opened.enter_async_context(live_toolbox(prepared.settings, index, account, traffic))
        graph = build_graph(prepared.configuration, toolbox, jobs)
        _introduce(session, options, begun, talk, searches=toolbox.searches)
        talk.note(index.about)
        config, visits = await _config(graph, session, options), ""
        try:
            try:
                job = await drive(graph, config, await _first(graph, config, session, options), talk.ask, talk.tell)
                visits = f"{len(job.state.visits) if job else 0} visits, "
            finally:
                if trace := await write_trace(jobs, session.name, Path(str(options.out)), index.symbols):
                    talk.note(f"wrote {trace}")
                talk.note(f"{visits}{summary(account, time.monotonic() - since)}")
        except (OpenAIError, httpx.HTTPError, OverBudgetError) as error:
            return _stopped(error, session.how_to_resume, talk)
        except GraphRecursionError:
            how = f"{session.how_to_resume} --guards hardened"
            talk.say(f"guard set {options.guards!r} let the job go round in circles; {how}")
            return EXIT_UNFINISHED
    return close(job, options, session.how_to_resume, talk.say)


def _stopped(error: Exception, how_to_resume: str, talk: Talk) -> int:
    """Say why the job stands still; the exit code."""
    if refused := over_budget(error):
        talk.say(f"stopped: {refused}; {how_to_resume} {refused.raised}")
        return EXIT_UNFINISHED
    talk.say(f"the endpoint failed ({reason(error)}); {how_to_resume}")
    return EXIT_OUTAGE


async def serve(
    repos: Sequence[Path],
    paths: Sequence[str],
    host: str,
    port: int,
    names: Sequence[str],
    model: str | None,
    talk: Talk,
) -> None:
    """Serve the agents over HTTP until interrupted; `repos` are absolute, and their last parts are what jobs call them.
    `paths` limit the search (`sources_of`). `names` are further host names by which the service may be asked.

    Raises:
        ConfigurationError: other machines can reach the address, and there is no token.
        InputError: it cannot be listened on.
    """
    settings = settings_from_environment(model)
    access = Access.to(host, settings.service_token.get_secret_value(), names)
    listener = _listening(host, port)
    index = await index_of_repository(sources_of(repos, paths), talk.note, talk.bar)
    talk.note(index.about)
    account = Account(searched=lambda query: talk.note(f"searches the web: {one_line(query)}"))
    async with live_toolbox(settings, index, account) as toolbox:
        service = guarded(app(toolbox, repository_name(repos)), access)
        await uvicorn.Server(uvicorn.Config(service, host=host, port=port)).serve(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)
        raise InputError(f"{host}:{port}: cannot be listened on ({why}); name another --host or --port") from error


async def _begun(session: JobRequest) -> RunOptions | None:
    """What the stored job began with. Raises InputError where the name does not fit what is to be done."""
    if not session.jobs.exists():
        if session.issue is None:
            raise InputError(f"{session.jobs}: no job is called {session.name!r}; start it with --issue FILE")
        return None
    async with open_jobs(session.jobs) as jobs:
        begun = await begun_with(jobs, session.name)
    if session.issue is None and begun is None:
        raise InputError(f"{session.jobs}: no job is called {session.name!r}; start it with --issue FILE")
    if session.issue is not None and begun is not None:
        raise InputError(f"job {session.name!r} exists already: go on with --resume, or choose another --job-id")
    return begun


def _agreed(session: JobRequest, begun: RunOptions | None) -> RunOptions:
    """What the job runs with, a resumed one as it was begun."""
    options = session.options.completed() if begun is None else session.options.continued(begun)
    if options.repo is None:
        raise InputError("this job does not know its repository yet: give --repo")
    return replace(options, out=options.out or str((DEFAULT_JOBS.parent / session.name).resolve()))


def _introduce(
    session: JobRequest, options: RunOptions, begun: RunOptions | None, talk: Talk, *, searches: bool
) -> None:
    """What the job runs with, and what about that may surprise."""
    talk.note(f"job {session.name}{'' if begun is None else ' goes on'}: {options.told()}")
    for repo, revision in zip(options.checkouts, options.revisions, strict=True) if options.further_repos else ():
        talk.note(f"{repo.name}: {f'at {revision}' if revision else 'no git revision'}")
    if begun is not None and begun.base_url not in (None, options.base_url):
        talk.note(f"it was begun at {begun.base_url}, and goes on at {options.base_url}")
    if not searches:
        talk.note(NO_WEB.replace("was not", "is not"))


async def _first(graph: TriageGraph, config: RunnableConfig, session: JobRequest, options: RunOptions) -> Given:
    """The state of a new job, or what a stored one goes on with."""
    if session.issue is None:
        return await reopened(graph, config, _changes(session))
    return BugTriageState(
        job_id=session.name,
        issue_title=session.issue.title,
        issue_body=session.issue.body,
        issue_url=session.issue.url,
        issue_discussion=session.issue.discussion,
        repository=repository_name(options.checkouts),
        max_iterations=session.max_iterations or DEFAULT_MAX_ITERATIONS,
        redirect_instructions=list(session.redirects),
    )


def _changes(session: JobRequest) -> dict[str, Any]:
    """What the operator changes in a stored job: its budget, and its orders, which replace older ones."""
    changes: dict[str, Any] = {}
    if session.max_iterations is not None:
        changes["max_iterations"] = session.max_iterations
    if session.redirects:
        changes["redirect_instructions"] = list(session.redirects)
    return changes


async def _config(graph: TriageGraph, session: JobRequest, options: RunOptions) -> RunnableConfig:
    """The config of the job; a resumed one has the budget it was begun with, unless another is given now."""
    budget = session.max_iterations or DEFAULT_MAX_ITERATIONS
    config = job_config(session.name, budget, options)
    job = await stored(graph, config)
    kept = session.max_iterations is None and job is not None
    return job_config(session.name, job.state.max_iterations if kept and job else budget, options)


@contextmanager
def _room_in(*folders: Path) -> Iterator[None]:
    """Make the folders; those that were made and are still empty are removed where the job cannot begin.

    Raises:
        InputError: a folder cannot be made.
    """
    made: list[Path] = []
    try:
        for folder in folders:
            made += _made(folder)
        yield
    except TriageError:
        for folder in reversed(made):
            remove_unused(folder)
        raise


def _made(folder: Path) -> list[Path]:
    """The folder and those above it that were not there, the highest first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()][::-1]
    try:
        private_folder(folder)
    except OSError as error:
        raise InputError(f"{folder}: the folder cannot be made ({error.strerror})") from error
    return missing

"""One sitting at a job: wire everything up, run it as far as it goes, write what came out, and say how it ended."""

import os
import shlex
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import httpx
import uvicorn
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError
from openai import OpenAIError

from triage.account import Account, reason
from triage.agents.web_search import NO_WEB
from triage.aside import Told
from triage.budget import Budget, OverBudgetError, budget_of, over_budget
from triage.checkout import revision_of
from triage.checkpoints import is_kept, open_jobs
from triage.closing import close, summary
from triage.codebase.index import CodebaseIndex
from triage.configuration import Configuration
from triage.errors import EXIT_OUTAGE, EXIT_UNFINISHED, InputError, TriageError
from triage.graph import TriageGraph, build_graph, check_configuration
from triage.issue import Issue
from triage.job import Given, begun_with, drive, job_config, reopened, stored
from triage.kept_calls import keep_call, kept_calls, kept_refusals
from triage.live import index_of_repository, live_toolbox, settings_from_environment
from triage.locks import held
from triage.options import Options
from triage.places import DEFAULT_JOBS
from triage.private_files import private_folder, remove_unused
from triage.server import app
from triage.server_access import Access, guarded
from triage.settings import Settings
from triage.state import DEFAULT_MAX_ITERATIONS, BugTriageState, HumanExchange
from triage.trace_file import write_trace
from triage.traffic import Traffic
from triage.visible_text import one_line


@dataclass(frozen=True)
class Session:
    """What the command line asks for; `issue` is None when the job `name` is to be resumed."""

    name: str
    issue: Issue | None
    options: Options
    jobs: Path
    max_iterations: int | None = None
    redirects: tuple[str, ...] = ()
    repo_as_typed: str = ""
    account: Account = field(default_factory=Account)

    @property
    def how_to_resume(self) -> str:
        """What to type to go on with the job, or that it has to be begun anew."""
        if not is_kept(self.jobs, self.name):
            return "nothing of the job was kept yet: start it again"
        words = ["triage", "run", "--resume", "--job-id", self.name]
        words += ["--repo", self.repo_as_typed] if self.repo_as_typed else []
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

    options: Options
    settings: Settings
    configuration: Configuration
    index: CodebaseIndex
    budget: Budget | None


async def run_session(session: Session, talk: Talk) -> int:
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


async def _prepared(session: Session, begun: Options | None, talk: Talk) -> Prepared:
    options = _agreed(session, begun)
    settings = settings_from_environment(options.model)
    configuration = options.configuration()
    check_configuration(configuration)
    asked = [agent for agent in settings.models if (agent, options.supervisor) != ("supervisor", "rules")]
    budget = budget_of(options.max_cost, options.max_tokens, settings, asked)
    index = await index_of_repository(Path(str(options.repo)), talk.note, talk.bar)
    begun_at = begun.revision if begun else revision_of(Path(str(options.repo)))
    options = replace(options, base_url=settings.base_url, revision=begun_at)
    return Prepared(options, settings, configuration, index, budget)


async def _run(session: Session, prepared: Prepared, begun: Options | None, talk: Talk) -> int:
    options, index = prepared.options, prepared.index
    account, since = session.account, time.monotonic()
    account.budget = prepared.budget
    async with AsyncExitStack() as opened:
        jobs = await opened.enter_async_context(open_jobs(session.jobs))
        account.kept = partial(keep_call, jobs.conn, session.name)
        if account.budget:
            account.budget.count(await kept_calls(jobs.conn, session.name))
            account.budget.count(await kept_refusals(jobs.conn, session.name))
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


async def serve(repo: Path, host: str, port: int, names: Sequence[str], model: str | None, talk: Talk) -> None:
    """Serve the agents over HTTP until interrupted; `repo` is absolute, and its last part is what jobs call it. `names`
    are further host names by which the service may be asked.

    Raises:
        ConfigurationError: other machines can reach the address, and there is no token.
        InputError: it cannot be listened on.
    """
    settings = settings_from_environment(model)
    access = Access.to(host, settings.service_token.get_secret_value(), names)
    listener = _listening(host, port)
    index = await index_of_repository(repo, talk.note, talk.bar)
    talk.note(index.about)
    account = Account(searched=lambda query: talk.note(f"searches the web: {one_line(query)}"))
    async with live_toolbox(settings, index, account) as toolbox:
        service = guarded(app(toolbox, repo.name), access)
        await uvicorn.Server(uvicorn.Config(service, host=host, port=port)).serve(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)
        raise InputError(f"{host}:{port}: cannot be listened on ({why}); name another --host or --port") from error


async def _begun(session: Session) -> Options | None:
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


def _agreed(session: Session, begun: Options | None) -> Options:
    """What the job runs with, a resumed one as it was begun."""
    options = session.options.completed() if begun is None else session.options.continued(begun)
    if options.repo is None:
        raise InputError("this job does not know its repository yet: give --repo")
    return replace(options, out=options.out or str((DEFAULT_JOBS.parent / session.name).resolve()))


def _introduce(session: Session, options: Options, begun: Options | None, talk: Talk, *, searches: bool) -> None:
    """What the job runs with, and what about that may surprise."""
    talk.note(f"job {session.name}{'' if begun is None else ' goes on'}: {options.told()}")
    if begun is not None and begun.base_url not in (None, options.base_url):
        talk.note(f"it was begun at {begun.base_url}, and goes on at {options.base_url}")
    if not searches:
        talk.note(NO_WEB.replace("was not", "is not"))


async def _first(graph: TriageGraph, config: RunnableConfig, session: Session, options: Options) -> Given:
    """The state of a new job, or what a stored one goes on with."""
    if session.issue is None:
        return await reopened(graph, config, _changes(session))
    return BugTriageState(
        job_id=session.name,
        issue_title=session.issue.title,
        issue_body=session.issue.body,
        issue_url=session.issue.url,
        issue_discussion=session.issue.discussion,
        repository=Path(str(options.repo)).name,
        max_iterations=session.max_iterations or DEFAULT_MAX_ITERATIONS,
        redirect_instructions=list(session.redirects),
    )


def _changes(session: Session) -> dict[str, Any]:
    """What the operator changes in a stored job: its budget, and its orders, which replace older ones."""
    changes: dict[str, Any] = {}
    if session.max_iterations is not None:
        changes["max_iterations"] = session.max_iterations
    if session.redirects:
        changes["redirect_instructions"] = list(session.redirects)
    return changes


async def _config(graph: TriageGraph, session: Session, options: Options) -> RunnableConfig:
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

"""One sitting at a job: wire everything up, run it as far as it goes, write what came out, and say how it ended."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError
from openai import APIStatusError, OpenAIError

from triage.checkpoints import JobSaver, open_jobs
from triage.errors import EXIT_OK, EXIT_OUTAGE, EXIT_UNFINISHED, InputError
from triage.graph import TriageGraph, build_graph
from triage.issue import Issue
from triage.job import Ask, Job, Tell, begun_with, drive, job_config, stored
from triage.live import index_of_repository, live_toolbox, settings_from_environment
from triage.options import Options
from triage.results import write_results
from triage.server import app
from triage.state import BugTriageState

Say = Callable[[str], None]


@dataclass(frozen=True)
class Session:
    """What the command line asks for; `issue` is None when the job `name` is to be resumed."""

    name: str
    repo: Path
    issue: Issue | None
    options: Options
    max_iterations: int
    jobs: Path
    out: Path
    model: str | None = None

    @property
    def how_to_resume(self) -> str:
        """What to type to go on with the job."""
        elsewhere = "" if self.jobs == Path(".triage/jobs.sqlite") else f" --jobs {self.jobs}"
        return f"the job is kept: triage run --resume --job-id {self.name} --repo {self.repo}{elsewhere}"


async def run_session(session: Session, ask: Ask, tell: Tell, say: Say) -> int:
    """Run the job of `session` and return the exit code (see `triage.cli`).

    Raises:
        TriageError: wrong input or configuration; nothing was asked of the endpoint.
    """
    settings = settings_from_environment(session.model)
    if session.issue is not None:
        session.options.completed().configuration()  # what is wrong with it is said before anything is made
    index = index_of_repository(session.repo)
    _make_room(session.jobs.parent)
    _make_room(session.out)
    async with live_toolbox(settings, index) as toolbox, open_jobs(session.jobs) as jobs:
        options = await _options(session, jobs)
        graph = build_graph(options.configuration(), toolbox, jobs)
        config = await _config(graph, session, options)
        try:
            job = await drive(graph, config, _new(session), ask, tell)
        except OpenAIError as error:
            say(f"the endpoint failed ({_reason(error)}); {session.how_to_resume}")
            return EXIT_OUTAGE
        except GraphRecursionError:
            how = f"{session.how_to_resume} --guards hardened"
            say(f"guard set {options.guards!r} let the job go round in circles; {how}")
            return EXIT_UNFINISHED
    return _close(session, job, say)


async def serve(repo: Path, host: str, port: int, model: str | None) -> None:
    """Serve the agents over HTTP until interrupted."""
    settings = settings_from_environment(model)
    async with live_toolbox(settings, index_of_repository(repo)) as toolbox:
        await uvicorn.Server(uvicorn.Config(app(toolbox), host=host, port=port)).serve()


def _new(session: Session) -> BugTriageState | None:
    if session.issue is None:
        return None
    return BugTriageState(
        job_id=session.name,
        issue_title=session.issue.title,
        issue_body=session.issue.body,
        issue_url=session.issue.url,
        repository=session.repo.resolve().name,
        max_iterations=session.max_iterations,
    )


async def _options(session: Session, jobs: JobSaver) -> Options:
    """What the job runs with, a resumed one as it was begun. Raises InputError where the name does not fit."""
    begun = await begun_with(jobs, session.name)
    if session.issue is None and begun is None:
        raise InputError(f"{session.jobs}: no job is called {session.name!r}; start it with --issue FILE")
    if session.issue is not None and begun is not None:
        raise InputError(f"job {session.name!r} exists already: go on with --resume, or choose another --job-id")
    return session.options.completed() if begun is None else session.options.continued(begun)


async def _config(graph: TriageGraph, session: Session, options: Options) -> RunnableConfig:
    """The config of the job; a resumed one has the budget it was begun with."""
    config = job_config(session.name, session.max_iterations, options)
    job = await stored(graph, config)
    return config if job is None else job_config(session.name, job.state.max_iterations, options)


def _close(session: Session, job: Job | None, say: Say) -> int:
    if job is None or not job.finished:
        say(f"waiting for an answer; {session.how_to_resume}")
        return EXIT_UNFINISHED
    for path in write_results(session.out, job.state):
        say(f"wrote {path}")
    if job.state.report is not None:
        return EXIT_OK
    failures = [failure.error for failure in job.state.agent_errors if failure.agent_name == "writer"]
    failures += [failure.error for failure in job.state.supervisor_errors]
    say(f"no report was written ({failures[-1] if failures else 'the supervisor ended the job without one'})")
    return EXIT_UNFINISHED


def _reason(error: OpenAIError) -> str:
    if isinstance(error, APIStatusError):
        return f"HTTP {error.status_code} from {error.request.url}"
    return next(iter(str(error).splitlines()), type(error).__name__)


def _make_room(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the folder cannot be made ({error.strerror})") from error

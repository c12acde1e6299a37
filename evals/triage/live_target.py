"""A case given to the live graph."""

import evals.triage.offline_environment  # noqa: F401 - before LangGraph and LangSmith

# isort: split
import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.errors import ConfigurationError
from evals.models.case import Case
from evals.models.trace import Trace
from evals.triage.recorded_graph import Repositories
from evals.triage.target import answer_to
from evals.workspace import Workspace
from triage.checkpoints import open_jobs
from triage.codebase.index import CodebaseIndex
from triage.endpoint_usage import Account
from triage.errors import TriageError
from triage.graph import build_graph
from triage.job_session import drive, job_config
from triage.job_trace import call_data, trace_of
from triage.live_graph import live_toolbox, settings_from_environment
from triage.run_options import RunOptions
from triage.settings import Settings
from triage.state import DEFAULT_MAX_ITERATIONS, BugTriageState, HumanExchange
from triage.stored_jobs import history


@dataclass
class LiveTeam:
    """The team as the environment and these options have it; it indexes the code of a case when it first needs it.

    Raises:
        ConfigurationError: no endpoint, or a supervisor, prompt or guard set that does not exist.
    """

    workspace: Workspace
    supervisor: str = "llm"
    prompt: str | None = None
    guards: str = "hardened"
    model: str | None = None
    _repositories: Repositories = field(init=False)
    _options: RunOptions = field(init=False)
    _settings: Settings = field(init=False)

    def __post_init__(self) -> None:
        try:
            said = RunOptions(supervisor=self.supervisor, prompt=self.prompt, guards=self.guards, model=self.model)
            self._options = said.completed()
            self._options.configuration()
            self._settings = settings_from_environment(self.model)
        except TriageError as error:
            raise ConfigurationError(str(error)) from error
        self._repositories = Repositories(self.workspace)

    @property
    def name(self) -> str:
        """What the traces call it as a variant."""
        return self._options.prompt or self.supervisor

    def work_on(self, case: Case) -> Trace:
        """What the team does with the issue of a case; no loop may be running in this thread.

        Raises whatever the endpoint's client raises where it fails.
        """
        return asyncio.run(self._work_on(case, self._repositories.of(case).index))

    async def _work_on(self, case: Case, index: CodebaseIndex) -> Trace:
        user, account = _User(case), Account()
        with tempfile.TemporaryDirectory() as folder:
            async with (
                open_jobs(Path(folder) / "jobs.sqlite") as jobs,
                live_toolbox(self._settings, index, account) as toolbox,
            ):
                graph = build_graph(self._options.configuration(), toolbox, jobs)
                config = job_config(case.id, DEFAULT_MAX_ITERATIONS, self._options)
                job = await drive(graph, config, _begin(case), user.ask, lambda _node, _changes: None)
                state = job.state if job else _begin(case)
                told = trace_of(case.id, await history(jobs, case.id), state, index.symbols)
        return Trace.model_validate(
            {
                **told,
                "variant": self.name,
                "exchanges": user.exchanges,
                "calls": [call_data(call) for call in account.calls],
                "provenance": {"label": "exact"},
                "repository_files": sorted(index.paths),
            }
        )


@dataclass
class _User:
    """Answers from the case's script, and remembers what about."""

    case: Case
    exchanges: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, question: HumanExchange) -> str:
        given = {exchange["topic"] for exchange in self.exchanges}
        said, topic = answer_to(f"{question.question}\n{question.context}", self.case.labels.question, given)
        told = {"question": question.question, "context": question.context, "answer": said, "topic": topic}
        self.exchanges.append(told)
        return said


def _begin(case: Case) -> BugTriageState:
    return BugTriageState(
        job_id=case.id,
        issue_title=case.title,
        issue_body=case.body,
        issue_url=case.url,
        repository=case.repository,
        max_iterations=DEFAULT_MAX_ITERATIONS,
    )

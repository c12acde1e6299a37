"""The graph of a variant on the tape of a case, for whoever calls it himself: as a whole, or one agent of it."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langsmith import tracing_context

from evals.cassette.ledger import Ledger
from evals.cassette.miss import describe
from evals.cassette.player import Tape, playing
from evals.errors import ConfigurationError, MissError
from evals.models.case import Case
from evals.subject.team import searching
from evals.subject.trial import Subject, start_of, thread_of
from triage.agents import AGENTS
from triage.agents.visit import worker_node
from triage.graph import TriageGraph
from triage.state import BugTriageState

_threads: Final = itertools.count()


@dataclass(frozen=True)
class OnTape:
    """What a test is given. All requests are answered from the recording; one that is not there is a MissError."""

    case: Case
    graph: TriageGraph
    """The compiled graph of the variant; call it as ever, with `state` and `config`."""
    state: BugTriageState
    """What a trial of the case begins with."""
    config: RunnableConfig
    """A thread of its own in the graph's memory, and the recursion limit of a trial."""
    ledger: Ledger
    """What was asked and answered so far, and what nobody recorded."""
    _subject: Subject

    async def visit(self, agent: str, state: BugTriageState | None = None) -> dict[str, Any]:
        """What one agent of the team adds to a state (the first one, if none is given), as a node of the graph does.

        Raises:
            ConfigurationError: nobody of that name.
            MissError: the agent asked something that is not on the tape.
        """
        named = {name: each for name, each in AGENTS.items() if name == agent}
        if not named:
            raise ConfigurationError(f"no agent {agent!r}; name one of {', '.join(AGENTS)}")
        (chosen,) = named.values()
        update = await worker_node(chosen, self._subject.team.toolbox)(state or self.state)
        self.check()
        return update

    def check(self) -> None:
        """Raises MissError where something was asked that nobody recorded, whoever swallowed it."""
        if self.ledger.misses:
            raise MissError(describe(self.ledger.misses[0]))


@contextmanager
def on_tape(subject: Subject, case: Case, tape: Tape) -> Iterator[OnTape]:
    """The graph, with the tape playing and the case's code to be searched as long as the block lasts.

    Raises MissError at the end of a block that asked something nobody recorded: agents and tools swallow exceptions.
    """
    thread = f"{case.id} of a test {next(_threads)}"
    config = thread_of(subject, thread)
    found = OnTape(case, subject.team.graph, start_of(subject, case), config, tape.ledger, subject)
    with playing(tape), searching(subject.repository.index), tracing_context(enabled=False):
        try:
            yield found
        finally:
            subject.team.forget(thread)
        found.check()

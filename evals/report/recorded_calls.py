"""What models were asked and answered in the trials of a run, read from its cassettes."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from evals import atomic_files as disk
from evals.cassettes.cassette_data import Interaction
from evals.cassettes.cassette_files import FOLDER, Readings, read
from evals.cassettes.transcript import RecordedWords, recorded_words
from evals.content_cache import digest_of
from evals.errors import CassetteError, EvalsError
from evals.models.run import Run
from evals.models.trace import Call, Trace
from evals.workspace import Workspace


class RecordedCall(NamedTuple):
    """One request in words: its system prompt, its other messages, and the raw reply."""

    system: str
    shown: str
    reply: str


Recorded = Mapping[tuple[str, str, int], RecordedCall]
"""(case, key of the request, number of the answer from 0) -> what was asked and answered."""
NONE: Final[Recorded] = {}


def recorded_calls(run: Run, workspace: Workspace) -> Recorded:
    """What the trials of a run were answered. Of a case whose cassette is another file than the run names: nothing."""
    asked: dict[str, set[str]] = {}
    for trial in run.trials:
        asked.setdefault(trial.trace.case_id, set()).update(call.key for call in trial.trace.calls)
    return {
        (case, key, sample): RecordedCall(*words)
        for case, keys in asked.items()
        for (key, sample), words in _words(workspace, case, run.cassettes.get(case, ""), keys).items()
    }


class TrialCalls:
    """What was said in the calls of the trials of a run."""

    def __init__(self, run: Run, recorded: Recorded) -> None:
        self._recorded = recorded
        self._samples = 1 + max((trial.trace.sample for trial in run.trials), default=0)
        self._router = _router(trial.trace for trial in run.trials if trial.trace.provenance.label == "exact")

    def of(self, trace: Trace) -> list[RecordedCall | None]:
        """Each call of a trial; None where it is not known. A repeat, and a repeated request, takes the next of the
        recorded answers."""
        asked: Counter[str] = Counter()
        found = []
        for call in trace.calls:
            answer = (trace.sample + asked[call.key]) % self._samples
            found.append(self._recorded.get((trace.case_id, call.key, answer)))
            asked[call.key] += 1
        return found

    def of_decision(self, trace: Trace, index: int) -> tuple[Call, RecordedCall] | None:
        """The last call that a decision rests on; None where it is not known."""
        made = [pair for pair in zip(trace.calls, self.of(trace), strict=True) if pair[0].agent == self._router]
        place = sum(1 + decision.corrections for decision in trace.decisions[: index + 1]) - 1
        call, words = made[place] if place < len(made) else (None, None)
        return (call, words) if call is not None and words is not None else None


def _router(traces: Iterable[Trace]) -> str | None:
    """The agent that is asked once per decision, and once more per correction, in each of these trials: of several the
    one that is asked first."""
    counts = [
        (Counter(call.agent for call in trace.calls), sum(1 + each.corrections for each in trace.decisions))
        for trace in traces
    ]
    agents = dict.fromkeys(agent for asked, _ in counts for agent in asked)
    return next((agent for agent in agents if all(asked[agent] == decided for asked, decided in counts)), None)


def _words(workspace: Workspace, case: str, digest: str, keys: Collection[str]) -> RecordedWords:
    path = workspace.cassette(case)

    def interactions() -> Sequence[Interaction]:
        content = disk.read(path)
        if content is None or digest_of(content) != digest:
            raise CassetteError(path, "not the file that answered this run")
        return read(content, path, Readings(workspace.cache / FOLDER)).interactions

    try:
        return recorded_words(interactions, digest, keys, workspace.cache)
    except EvalsError:  # the page says that there are no raw answers; what is wrong with a cassette, the run says
        return {}

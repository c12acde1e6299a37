"""What models were asked and answered in the trials of a run, read from its cassettes."""

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from evals import atomic_files as disk
from evals.cassettes import transcript
from evals.cassettes.store import FOLDER, Readings, read
from evals.content_cache import Kept, digest_of
from evals.errors import EvalsError
from evals.models.run import Run
from evals.models.trace import Call, Trace
from evals.module_loader import digest_of_code
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
    keys: dict[str, set[str]] = {}
    for trial in run.trials:
        keys.setdefault(trial.trace.case_id, set()).update(call.key for call in trial.trace.calls)
    return {
        (case, key, sample): RecordedCall(*words)
        for case, asked in keys.items()
        for key, sample, *words in _words(workspace, case, run.cassettes.get(case, ""))
        if key in asked
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


def _words(workspace: Workspace, case: str, digest: str) -> list[tuple[str, int, str, str, str]]:
    """The words of one cassette, from the cache where they were read before."""
    kept, name = Kept(workspace.cache / "calls"), digest_of(digest.encode(), _code())
    if digest and (packed := kept.get(name)) is not None:
        with suppress(ValueError, zlib.error):
            return list(json.loads(zlib.decompress(packed)))
    path = workspace.cassette(case)
    content = disk.read(path)
    if content is None or digest_of(content) != digest:
        return []
    try:
        held = read(content, path, Readings(workspace.cache / FOLDER)).interactions
    except EvalsError:
        return []  # the run says that the cassette is damaged
    words = [(each.key, each.sample, *transcript.words_of(each)) for each in held]
    with suppress(OSError, UnicodeEncodeError):
        kept.put(name, zlib.compress(json.dumps(words, ensure_ascii=False).encode(), 1))
    return words


@cache
def _code() -> bytes:
    return "".join(digest_of_code(Path(each)) for each in (__file__, transcript.__file__)).encode()

"""The recorded requests a suite's trials ask, each once, with all that was ever answered to it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evals.cassette.readings import FOLDER, Readings
from evals.cassette.store import Interaction, load
from evals.drift.meaning import fields_of
from evals.errors import CannotJudgeError
from evals.models.trace import Trace
from evals.workspace import Workspace

SHARED = "several"
"""In the place of a variant: asked by more than one, as most requests of workers are."""


class Stratum(NamedTuple):
    """Who asks: an agent, and the variant alone in whose trials it asks this, or `several`."""

    agent: str
    variant: str


class Use(NamedTuple):
    """Where a trial asks it: the n-th request of its supervisor on its way (from 1), or 0 for all else, as in a frozen
    state, which is no part of the way."""

    case: str
    variant: str
    step: int


@dataclass(frozen=True, eq=False)  # one request is itself: its answers are no names
class Recorded:
    """One request. `answers` are all that are on tape, by sample; `fields` what they are compared in."""

    case: str
    key: str
    stratum: Stratum
    fields: tuple[str, ...]
    answers: tuple[Interaction, ...]
    uses: tuple[Use, ...]

    @property
    def agent(self) -> str:
        """Who asks it."""
        return self.stratum.agent

    @property
    def times(self) -> int:
        """How often it has to be asked so that its noise is told: once where the tape tells it, else twice."""
        return 1 if len(self.answers) > 1 else 2


@dataclass(frozen=True)
class Population:
    """All that can be asked again; `prose` are requests that are not, since only their wording could be compared."""

    requests: tuple[Recorded, ...]
    prose: tuple[Recorded, ...]

    @property
    def sizes(self) -> dict[Stratum, int]:
        """How many there are of each stratum, in order."""
        found: dict[Stratum, int] = {}
        for request in self.requests:
            found[request.stratum] = found.get(request.stratum, 0) + 1
        return dict(sorted(found.items()))


def population(traces: Sequence[Trace], workspace: Workspace) -> Population:
    """What these traces of a replay were served.

    Raises:
        CannotJudgeError: a trial failed, as over a cassette that cannot be trusted, or none was served anything.
    """
    if failed := [trace for trace in traces if trace.provenance.label == "failed"]:
        raise CannotJudgeError(f"{failed[0].case_id} under {failed[0].variant} cannot be replayed: {failed[0].error}")
    uses = _uses(traces)
    readings = Readings(workspace.cache / FOLDER)
    found: dict[str, Recorded] = {}
    for case in sorted({trace.case_id for trace in traces}):
        answers: dict[str, list[Interaction]] = {}
        for interaction in load(workspace.cassette(case), readings).interactions:
            answers.setdefault(interaction.key, []).append(interaction)
        for key in sorted(uses.keys() & answers.keys() - found.keys()):
            found[key] = _recorded(case, key, answers[key], uses[key])
    asked = [request for request in found.values() if request.answers[0].model]  # a web search asks no model
    if not asked:
        raise CannotJudgeError("nothing is recorded that could be asked again; record the suite first")
    return Population(
        tuple(request for request in asked if request.fields), tuple(each for each in asked if not each.fields)
    )


def _recorded(case: str, key: str, answers: Iterable[Interaction], uses: Sequence[Use]) -> Recorded:
    kept = tuple(sorted(answers, key=lambda answer: answer.sample))
    variants = {use.variant for use in uses}
    stratum = Stratum(kept[0].agent, variants.pop() if len(variants) == 1 else SHARED)
    return Recorded(case, key, stratum, fields_of(kept[0].agent, kept[0].request), kept, tuple(uses))


def _uses(traces: Sequence[Trace]) -> Mapping[str, Sequence[Use]]:
    """Key -> where it is asked, once per case, variant and step."""
    found: dict[str, dict[Use, None]] = {}
    for trace in traces:
        step = 0
        for call in trace.calls:
            step += call.agent == "supervisor"
            use = Use(trace.case_id, trace.variant, step if call.agent == "supervisor" else 0)
            found.setdefault(call.key, {})[use] = None
        for key in (key for point in trace.points for key in point.keys):
            found.setdefault(key, {})[Use(trace.case_id, trace.variant, 0)] = None
    return {key: tuple(each) for key, each in found.items()}

"""The plan of a recording: missing requests per variant and cause, and their cost."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import islice
from typing import Annotated, Final

from pydantic import Field

from evals.application_pack import PromptFile
from evals.cassettes.cassette_data import Cassette, Interaction, texts_of
from evals.cassettes.cassette_files import FOLDER, Readings, load
from evals.errors import CassetteError
from evals.models.base import Closed
from evals.models.run import VariantInfo
from evals.models.suite import Models
from evals.models.trace import Miss, Trace
from evals.prices import PriceTable
from evals.prompt_versions import edited_files, usual_base
from evals.recording.miss_causes import IssueText, Kind, MissCause, MissEvidence, Way, cause_of, ways_of
from evals.recording.recording_cost import (
    SEARCH,
    Experience,
    Need,
    experience_of,
    input_tokens,
    needs_of,
    output_tokens,
    seconds,
)
from evals.workspace import Workspace

Count = Annotated[int, Field(ge=0)]


class MissingVariant(Closed):
    """How much of a variant is not recorded: `off_tape` of its `trials`, and `points` unanswered decision points."""

    variant: str
    trials: Count
    off_tape: Count
    points: Count


class MissingBecause(Closed):
    """All requests that are missing for one cause. Equal requests of one case count once; `agents` says who asks."""

    kind: Kind
    text: str
    where: tuple[str, ...]
    variants: tuple[str, ...]
    cases: tuple[str, ...]
    requests: Count
    agents: dict[str, int]


class Effort(Closed):
    """What recording is going to take: an estimate from `based_on` recorded cases. `usd` is None where a model has no
    price, `seconds` where one never answered here; `seconds` counts one request after the other."""

    requests: Count
    searches: Count
    agents: dict[str, int]
    input_tokens: Count
    output_tokens: Count
    usd: Annotated[float, Field(ge=0)] | None
    unpriced: tuple[str, ...]
    prices_as_of: date
    seconds: Annotated[float, Field(ge=0)] | None
    based_on: Count


class RecordingPlan(Closed):
    """What `evals plan` says. `known` are the distinct requests missing now; what follows them is not known before they
    are answered, and only part of `effort`, which is None where nothing is recorded to estimate from."""

    suite: str
    trials: Count
    variants: tuple[MissingVariant, ...]
    causes: tuple[MissingBecause, ...]
    known: Count
    effort: Effort | None
    broken: tuple[str, ...] = ()
    command: str = ""
    held_out: tuple[str, ...] = ()
    """Cases of the holdout that lack something: recording includes them, a run leaves them out."""
    judge: Count = 0
    """Requests of the suite's judge among them: about trials that are recorded."""

    @property
    def complete(self) -> bool:
        """Whether a run of this suite can be judged."""
        return not self.variants and not self.broken and not self.judge


@dataclass(frozen=True)
class Missed:
    """One miss of one variant, with its cause."""

    evidence: MissEvidence
    cause: MissCause

    @classmethod
    def explained(cls, evidence: MissEvidence) -> "Missed":
        """The miss with the cause the evidence points to."""
        return cls(evidence, cause_of(evidence))

    @property
    def request(self) -> tuple[str, str]:
        """The request: a case, since each has a cassette of its own, and a key."""
        return self.evidence.trace.case_id, self.evidence.miss.key


def missing_variants(names: Sequence[str], traces: Sequence[Trace]) -> tuple[MissingVariant, ...]:
    """The variants that lack something, in the order given."""
    found = []
    for name in names:
        mine = [trace for trace in traces if trace.variant == name]
        off_tape = sum(bool(trace.misses) for trace in mine)
        points = sum(point.chosen is None for trace in mine for point in trace.points)
        if off_tape or points:
            found.append(MissingVariant(variant=name, trials=len(mine), off_tape=off_tape, points=points))
    return tuple(found)


def by_cause(missed: Sequence[Missed]) -> tuple[MissingBecause, ...]:
    """One entry per cause, the one behind most requests first."""
    groups: dict[tuple[str, str], list[Missed]] = {}
    for one in missed:
        groups.setdefault((one.cause.kind, one.cause.group), []).append(one)
    return tuple(sorted(map(_because, groups.values()), key=lambda cause: (-cause.requests, cause.kind, cause.text)))


def _because(group: Sequence[Missed]) -> MissingBecause:
    agents = {one.request: one.evidence.miss.agent for one in group}
    return MissingBecause(
        kind=group[0].cause.kind,
        text=group[0].cause.text,
        where=group[0].cause.where,
        variants=tuple(dict.fromkeys(one.evidence.trace.variant for one in group)),
        cases=tuple(sorted({one.evidence.trace.case_id for one in group})),
        requests=len(agents),
        agents=dict(sorted(Counter(agents.values()).items())),
    )


def effort_of(
    variants: Mapping[str, Models], traces: Sequence[Trace], experience: Experience, prices: PriceTable
) -> Effort | None:
    """What it takes to record what these traces lack; None if nothing is recorded that it could be estimated from."""
    return effort_for(needs_of(variants, traces, experience), experience, prices) if experience.trials else None


def effort_for(needs: Sequence[Need], experience: Experience, prices: PriceTable) -> Effort:
    """What it takes to ask as much, by what asking took before."""
    asking = [need for need in needs if need.asker != SEARCH]
    costs = [_cost(need, experience, prices) for need in asking]
    times = [seconds(need, experience) for need in needs]
    agents: Counter[str] = Counter()
    for need in needs:
        agents[need.asker] += max(need.known, round(need.expected))
    return Effort(
        requests=agents.total() - agents[SEARCH],
        searches=agents[SEARCH],
        agents={agent: count for agent, count in sorted(agents.items()) if count},
        input_tokens=round(sum(input_tokens(need, experience) for need in asking)),
        output_tokens=round(sum(output_tokens(need, experience) for need in asking)),
        usd=None if None in costs else round(sum(cost for cost in costs if cost is not None), 4),
        unpriced=tuple(sorted({need.model for need, cost in zip(asking, costs, strict=True) if cost is None})),
        prices_as_of=prices.as_of,
        seconds=None if None in times else round(sum(time for time in times if time is not None), 1),
        based_on=experience.cases,
    )


def _cost(need: Need, experience: Experience, prices: PriceTable) -> float | None:
    return prices.cost(need.model, input_tokens(need, experience), output_tokens(need, experience))


_ENOUGH: Final = 12
"""Cassettes an estimate is made from; reading one takes a tenth of a second."""


class Gatherer:
    """Reads for one plan. `infos` are all variants of the suite, not only those that were asked about."""

    def __init__(self, workspace: Workspace, infos: Sequence[VariantInfo]) -> None:
        self._workspace = workspace
        self._infos = infos
        self._cassettes: dict[str, Cassette] = {}
        self._issues: dict[str, IssueText] = {}
        self._texts: dict[str, str] = {}
        self._walked: dict[str, set[Way]] = {}
        self._readings = Readings(workspace.cache / FOLDER)

    def missed(self, traces: Sequence[Trace]) -> list[Missed]:
        """Every miss of the traces with its cause."""
        for trace in traces:
            self._walked.setdefault(trace.case_id, set()).update(ways_of(trace, self._workspace.pack.router))
        return [Missed.explained(evidence) for trace in traces for evidence in self._evidence(trace)]

    def experience(self, case_ids: Sequence[str]) -> Experience:
        """What recordings took: those of these cases first, then others of the checkout."""
        others = sorted(path.stem for path in self._workspace.cassettes.glob("*.yaml"))
        cassettes = islice(self._readable(dict.fromkeys([*case_ids, *others])), _ENOUGH)
        return experience_of(cassettes, self._workspace.pack.router)

    def _readable(self, case_ids: Mapping[str, None]) -> Iterator[Cassette]:
        for case_id in case_ids:
            try:
                cassette = self._cassette(case_id)
            except CassetteError:
                continue  # its trials have failed, and said so
            if cassette.interactions:
                yield cassette

    def _evidence(self, trace: Trace) -> Iterator[MissEvidence]:
        asked = [(miss, False) for miss in trace.misses] + [(miss, True) for miss in trace.point_misses]
        for miss, frozen in asked:
            cassette = self._cassette(trace.case_id)
            yield MissEvidence(
                trace=trace,
                miss=miss,
                recorded=_recorded(cassette, miss),
                tape=self._text(trace.case_id),
                walked=frozenset(self._walked[trace.case_id]),
                frozen=frozen,
                issue=self._issue(trace.case_id),
                prompt=self._prompts.get(trace.variant),
                workers=self._workers,
                versions={file.digest: file for file in reversed(self._prompts.values())},  # the first of equal ones
                edited=self._edited,
                router=self._workspace.pack.router,
            )

    @cached_property
    def _prompts(self) -> dict[str, PromptFile]:
        return self._workspace.pack.variant_prompts(self._infos, self._workspace.root)

    @cached_property
    def _workers(self) -> tuple[PromptFile, ...]:
        return self._workspace.pack.worker_prompts(self._workspace.root)

    @cached_property
    def _edited(self) -> tuple[str, ...]:
        """The files of the target's code that differ from those of the main branch."""
        root = self._workspace.root
        files = self._workspace.pack.code_files(root)
        code = {path.relative_to(root).as_posix() for path in files if path.is_relative_to(root)}
        return tuple(path for path in edited_files(root, usual_base()) if path in code and path.endswith(".py"))

    def _cassette(self, case_id: str) -> Cassette:
        if case_id not in self._cassettes:
            self._cassettes[case_id] = load(self._workspace.cassette(case_id), self._readings)
        return self._cassettes[case_id]

    def _text(self, case_id: str) -> str:
        """All that was ever said in the case's recorded requests."""
        if case_id not in self._texts:
            requests = (found.request for found in self._cassette(case_id).interactions)
            self._texts[case_id] = "\n".join(text for request in requests for text in texts_of(request))
        return self._texts[case_id]

    def _issue(self, case_id: str) -> IssueText:
        if case_id not in self._issues:
            path = self._workspace.pack.input_file(self._workspace.datasets, case_id)
            root = self._workspace.root
            shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
            lines = path.read_text(encoding="utf-8").splitlines()
            self._issues[case_id] = IssueText(shown, (lines[0].removeprefix("# "), *lines[1:]) if lines else ())
        return self._issues[case_id]


def _recorded(cassette: Cassette, miss: Miss) -> Interaction | None:
    nearest = miss.nearest
    return next((found for found in cassette.interactions if nearest and found.key == nearest.key), None)

"""Attribute the difference between two versions of a prompt to the hunks between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal

from evals.analysis.hunk_effects import AnswerCost, Attribution, Board, HunkEffect, HunkPart, Place
from evals.cassettes.store import FOLDER, Readings, load
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.metrics import Scored
from evals.models.run import Trial
from evals.models.run_request import Options
from evals.models.suite import Selection, Suite, Variant
from evals.models.trace import Trace
from evals.pipeline.compare_variants import Operand, ad_hoc, operands
from evals.pipeline.load_run import dataset_of, selected, to_be_run
from evals.pipeline.run_suite import replay
from evals.prices import PriceTable
from evals.prompt_hunks import HunkSpec, Part, parts_between
from evals.prompt_versions import NamedPrompt
from evals.run_context import Progress, RunContext, unwatched
from evals.scoring.score_trials import score_trials
from evals.suites.suite_files import read_suite
from evals.workspace import Workspace

Way = tuple[tuple[int, ...], Literal["+", "-"]]
"""Hunks, and whether they are put into the old version or taken out of the new one."""
_WAYS: Final = ("+", "-")


@dataclass(frozen=True)
class HunksAsked:
    """What is asked besides each hunk put into the old version: each taken out of the new one; pairs, where no single
    hunk explains the answer; and whole trials of the cases whose routes differ."""

    taken_out: bool = False
    pairs: bool = False
    trials: bool = False


@dataclass(frozen=True)
class PromptChange:
    """The one prompt in which two variants differ: what `prompts` of each variant calls it, and its two versions."""

    old: Variant
    new: Variant
    names: tuple[str, str]
    specs: tuple[str, str]
    parts: Sequence[Part]

    @property
    def hunks(self) -> int:
        """How many there are."""
        return max(part.hunk for part in self.parts)

    def variant(self, way: Way) -> Variant:
        """The variant with hunks put in or taken out, such as `v3+2` or `v5-2`."""
        hunks, sign = way
        base, name = (self.old, self.names[0]) if sign == "+" else (self.new, self.names[1])
        changes: dict[str, Any] = {"prompts": {**base.prompts, name: str(HunkSpec(*self.specs, hunks, sign))}}
        if base.settings.get("prompt"):
            changes["prompt"] = None
        return base.model_copy(update={"name": base.name + "".join(f"{sign}{one}" for one in hunks), **changes})


def change_between(old: Variant, new: Variant, workspace: Workspace) -> PromptChange:
    """The prompt in which two variants differ.

    Raises:
        ConfigurationError: they differ in no prompt, in several, in other settings too, or in a single hunk.
    """
    pair, (one, other) = f"{old.name} and {new.name}", _differing(old, new, workspace)
    if _others(old, (one, other)) != _others(new, (one, other)):
        raise ConfigurationError(f"{pair} differ in other settings, too; name two variants that differ in one prompt")
    parts = parts_between(one.text, other.text)
    if max((part.hunk for part in parts), default=0) < 2:
        raise ConfigurationError(f"{pair} differ in one hunk or none: `evals compare {old.name} {new.name}` judges it")
    if one.name == other.name:
        return PromptChange(old, new, (one.name, one.name), (one.spec, other.spec), parts)
    paths = one.path, other.path  # named by their versions in `config`
    return PromptChange(old, new, paths, paths, parts)


def _differing(old: Variant, new: Variant, workspace: Workspace) -> tuple[NamedPrompt, NamedPrompt]:
    found = [workspace.pack.prompts_named(variant, workspace.root) for variant in (old, new)]
    texts = [{(prompt.path, prompt.text) for prompt in prompts} for prompts in found]
    mine, others = (
        [prompt for prompt in prompts if (prompt.path, prompt.text) not in known]
        for prompts, known in zip(found, texts[::-1], strict=True)
    )
    if len(mine) != 1 or len(others) != 1:
        raise ConfigurationError(
            f"{old.name} and {new.name} do not differ in exactly one prompt that both name; name two versions of one"
        )
    return mine[0], others[0]


def _others(variant: Variant, prompts: Sequence[NamedPrompt]) -> dict[str, object]:
    """The settings that do not name the prompt."""
    told = variant.model_dump(exclude={"name", "prompt", "prompts", "config"})
    specs = {prompt.spec for prompt in prompts}
    return {
        **told,
        "prompts": {key: spec for key, spec in variant.prompts.items() if spec not in specs},
        "config": {key: value for key, value in variant.config.items() if str(value) not in specs},
    }


def attribute(
    specs: tuple[str, str],
    suite: str,
    root: Path,
    asked: HunksAsked,
    prices: PriceTable,
    *,
    jobs: int = 1,
    progress: Progress = unwatched,
) -> Attribution:
    """What each hunk between two versions did, as far as the answers are recorded. Held-out cases have no say.

    Raises:
        ConfigurationError: as `change_between`.
        CannotJudgeError: the versions themselves are not recorded, or a trial fails.
    """
    own = read_suite(suite, root)
    workspace = Workspace.at(root, dataset_of(own, root))
    old, new = (operand.variant for operand in operands(specs, own, workspace))
    change = change_between(old, new, workspace)
    bench = _Bench(own, change, workspace, jobs, progress)
    both = bench.replayed("", [])
    if both.missing:
        raise CannotJudgeError(f"{old.name} and {new.name} are not wholly recorded: `evals record {both.file}`")
    board = both.board()
    numbers = tuple(range(1, change.hunks + 1))
    ways: list[Way] = [((one,), sign) for sign in ("+", "-") if sign == "+" or asked.taken_out for one in numbers]
    singles = bench.replayed("hunks", ways, points=_by_case(board.differing))
    effects, stages = singles.effects(board, ways, board.differing), [singles]
    explaining = singles.explaining(board, numbers)
    together = [place for place, hunks in explaining.items() if not hunks]
    if asked.pairs and together:
        pairs: list[Way] = [(pair, "+") for pair in combinations(numbers, 2)]
        stages.append(bench.replayed("pairs", pairs, points=_by_case(together)))
        effects += stages[-1].effects(board, pairs, together)
    routes: list[HunkEffect] = []
    if asked.trials and (walked := both.board(trials=True)).differing:
        ids = tuple(place.case for place in walked.differing)
        stages.append(bench.replayed("trials", ways, cases=Selection(ids=ids)))
        routes = stages[-1].effects(walked, ways, walked.differing)
    return Attribution(
        suite=own.name,
        old=old.name,
        new=new.name,
        parts=tuple(HunkPart(old=part.old, new=part.new, hunk=part.hunk) for part in change.parts),
        decisions=len(board.clusters),
        whole=board.effect((numbers, "+"), board.new, board.differing),
        effects=tuple(effects),
        routes=tuple(routes),
        by_one=sum(len(hunks) == 1 for hunks in explaining.values()),
        by_several=sum(len(hunks) > 1 for hunks in explaining.values()),
        together=len(together),
        cost=both.cost(board.differing, prices),
        unrecorded=tuple(str(stage.file) for stage in stages if stage.missing),
    )


def _by_case(places: Sequence[Place]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for place in places:
        found[place.case] = (*found.get(place.case, ()), place.point)
    return found


@dataclass(frozen=True)
class _Bench:
    """Replays hunk versions beside the two versions themselves, as suites in files, which `record` can fill."""

    suite: Suite
    change: PromptChange
    workspace: Workspace
    jobs: int
    progress: Progress

    def replayed(self, what: str, ways: Sequence[Way], **changes: object) -> "_Stage":
        """The trials of these hunk versions; `changes` narrow the suite."""
        change = self.change
        variants = [change.old, *map(change.variant, ways), change.new]
        basis = self.suite.model_copy(update={"samples": 1, "judge": None, **changes})
        name = " ".join(filter(None, (change.old.name, change.new.name, what)))
        file = ad_hoc([Operand(variant) for variant in variants], basis, self.workspace, name)
        context = to_be_run(selected(str(file), self.workspace.root, Options()))
        return _Stage(file, context, change, replay(context, jobs=self.jobs, progress=self.progress).traces)


@dataclass(frozen=True)
class _Stage:
    """One of these suites, replayed."""

    file: Path
    context: RunContext
    change: PromptChange
    traces: Sequence[Trace]

    @property
    def missing(self) -> bool:
        """Whether an answer is not recorded. Raises CannotJudgeError for a trial that failed."""
        for trace in self.traces:
            if trace.provenance.label == "failed":
                raise CannotJudgeError(f"{trace.case_id} under {trace.variant} cannot be replayed: {trace.error}")
        return any(trace.misses or trace.point_misses for trace in self.traces)

    def answers(self, variant: Variant, *, trials: bool) -> dict[Place, str]:
        """What the variant chose at each decision point; or the route of each of its trials, and whether it passes."""
        mine = [trace for trace in self.traces if trace.variant == variant.name]
        if not trials:
            return {Place(trace.case_id, point): chosen for trace in mine for point, chosen in trace.choices.items()}
        exact = [trace for trace in mine if trace.provenance.label == "exact"]
        scored = score_trials(self.context.by_id, exact, self.context.pack)
        return {Place(trial.trace.case_id): " ".join((*trial.trace.route, _verdict(trial))) for trial in scored}

    def board(self, *, trials: bool = False) -> Board:
        """What hunks are measured on: decision points, or whole trials."""
        old, new = (self.answers(variant, trials=trials) for variant in (self.change.old, self.change.new))
        cases = self.context.by_id
        accepted = {Place(case.id, point.id): point.accept for case in cases.values() for point in case.points}
        clusters = {place: cases[place.case].cluster for place in old if place in new}

        def grade(place: Place, answer: str) -> float:
            return float(answer.endswith(_PASSES)) if trials else accepted.get(place, {}).get(answer, 0.0)

        return Board(grade, clusters, old, new, trials)

    def effects(self, board: Board, ways: Sequence[Way], places: Sequence[Place]) -> list[HunkEffect]:
        """What the hunks did at these places."""
        found = [self.answers(self.change.variant(way), trials=board.trials) for way in ways]
        return [board.effect(way, answers, places) for way, answers in zip(ways, found, strict=True)]

    def explaining(self, board: Board, numbers: Sequence[int]) -> dict[Place, list[int]]:
        """Place -> the hunks of which each, put in alone, gives the answer of the new version; without places where an
        answer is missing."""
        found = {one: self.answers(self.change.variant(((one,), "+")), trials=False) for one in numbers}
        return {
            place: [one for one, answers in found.items() if answers[place] == board.new[place]]
            for place in board.differing
            if all(place in answers for answers in found.values())
        }

    def cost(self, places: Sequence[Place], prices: PriceTable) -> AnswerCost | None:
        """What one answer at these places cost on average; None where there is none."""
        keys = {
            (trace.case_id, key)
            for trace in self.traces
            for point in trace.points
            if Place(trace.case_id, point.point) in places
            for key in point.keys
        }
        workspace = self.context.workspace
        readings = Readings(workspace.cache / FOLDER)
        cassettes = {case: load(workspace.cassette(case), readings) for case, _ in sorted(keys)}
        found = [each for case, tape in cassettes.items() for each in tape.interactions if (case, each.key) in keys]
        return AnswerCost.of(
            [(each.model, each.usage.prompt_tokens, each.usage.completion_tokens) for each in found], prices
        )


_PASSES: Final = "(passes)"


def _verdict(trial: Trial) -> str:
    found = trial.outcomes.get("route.pass")
    return _PASSES if isinstance(found, Scored) and found.value == 1 else "(fails)"

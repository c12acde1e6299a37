"""Attribute the difference between two versions of a prompt to the hunks between them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from evals.analysis.hunk_effects import Answers, Attribution, HunkEffect, HunkSet, Key, VersionPair
from evals.cassettes.cassette_files import FOLDER, Readings, load
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.run_request import Options, RunRequest
from evals.models.suite import Selection, Variant
from evals.models.trace import Trace
from evals.pipeline.compare_variants import Operand, ad_hoc, operands
from evals.pipeline.load_suite import dataset_of, selected, to_be_run
from evals.pipeline.run_suite import replay
from evals.prices import PriceTable
from evals.prompt_hunks import HunkSpec, Part, parts_between
from evals.run_context import Progress, RunContext
from evals.scoring.registry import score_trials
from evals.statistics.intervals import mean
from evals.suites.suite_files import read_suite
from evals.workspace import Workspace


@dataclass(frozen=True)
class PromptChange:
    """The one prompt in which two variants differ: what `prompts` of each variant calls it, and its two versions."""

    sides: tuple[Variant, Variant]
    names: tuple[str, str]
    specs: tuple[str, str]
    parts: tuple[Part, ...]

    @classmethod
    def between(cls, old: Variant, new: Variant, workspace: Workspace) -> "PromptChange":
        """Raises ConfigurationError: they differ in no prompt, in several, in more, or in a single hunk."""
        pair, named = f"{old.name} and {new.name}", partial(workspace.pack.prompts_named, root=workspace.root)
        shared = {(each.path, each.text) for each in named(old)} & {(each.path, each.text) for each in named(new)}
        left = [[each for each in named(side) if (each.path, each.text) not in shared] for side in (old, new)]
        if [len(prompts) for prompts in left] != [1, 1]:
            raise ConfigurationError(f"{pair} do not differ in exactly one prompt that both name; name two versions")
        (one,), (other,) = left
        if _without(old, (one.spec, other.spec)) != _without(new, (one.spec, other.spec)):
            raise ConfigurationError(f"{pair} differ in other settings, too; name two that differ in one prompt")
        parts = parts_between(one.text, other.text)
        if len({part.hunk for part in parts} - {0}) < 2:
            raise ConfigurationError(f"{pair} differ in one hunk or none: `evals compare` judges that")
        by_name = one.name == other.name  # else a version in `config` is called by its path
        (name, spec), (other_name, other_spec) = (
            (each.name, each.spec) if by_name or each.name in side.prompts else (each.path, each.path)
            for side, each in ((old, one), (new, other))
        )
        return cls((old, new), (name, other_name), (spec, other_spec), parts)

    def variant(self, hunk_set: HunkSet) -> Variant:
        """The variant with hunks added or removed, such as `v3+2` or `v5-2`."""
        hunks, sign = hunk_set
        base, name = self.sides[sign == "-"], self.names[sign == "-"]
        changes: dict[str, Any] = {"prompts": {**base.prompts, name: str(HunkSpec(*self.specs, hunks, sign))}}
        if base.settings.get("prompt"):
            changes["prompt"] = None
        return base.model_copy(update={"name": base.name + "".join(f"{sign}{one}" for one in hunks), **changes})


def _without(variant: Variant, specs: Sequence[str]) -> dict[str, object]:
    """The settings that do not name one of these versions of a prompt."""
    settings = {**variant.model_dump(exclude={"name", "prompt"}), "prompts": variant.prompts, "config": variant.config}
    return {
        name: {key: value for key, value in each.items() if str(value) not in specs} if isinstance(each, dict) else each
        for name, each in settings.items()
    }


def attribute(
    specs: tuple[str, str], request: RunRequest, also: Collection[str], prices: PriceTable, progress: Progress
) -> Attribution:
    """What each hunk between two versions of a prompt did, as far as the answers are recorded. Held-out cases have no
    say. `request` names suite, checkout and jobs; `also` are `taken_out`, `pairs`, `trials`, as for `evals attribute`.

    Raises:
        ConfigurationError: as `PromptChange.between`.
        CannotJudgeError: there are no decision points, the versions themselves are not recorded, or a trial fails.
    """
    own = read_suite(request.suite, request.root)
    workspace = Workspace.at(request.root, dataset_of(own, request.root))
    old, new = (operand.variant for operand in operands(specs, own, workspace))
    change = PromptChange.between(old, new, workspace)

    def stage(what: str, hunk_sets: Sequence[HunkSet], **changes: object) -> _Stage:
        sides = [Operand(variant) for variant in (old, *map(change.variant, hunk_sets), new)]
        basis = own.model_copy(update={"samples": 1, "judge": None, **changes})
        file = ad_hoc(sides, basis, workspace, f"{old.name} {new.name} {what}".strip())
        context = to_be_run(selected(str(file), request.root, Options()))
        return _Stage(file, context, change, replay(context, jobs=request.jobs, progress=progress).traces)

    both = stage("", [])
    if not any(trace.points or trace.point_misses or trace.provenance.label == "failed" for trace in both.traces):
        how = f"`evals points {request.suite}` makes them, then `evals record {request.suite}`"
        how = how if workspace.pack.own_endpoint else "label some in its cases"
        raise CannotJudgeError(f"suite {own.name} has no decision points; {how}")
    if both.is_missing:
        raise CannotJudgeError(f"{old.name} and {new.name} are not wholly recorded: `evals record {both.file}`")
    versions = both.versions()
    numbers = tuple(range(1, max(part.hunk for part in change.parts) + 1))
    hunk_sets: list[HunkSet] = [((one,), "+") for one in numbers]
    hunk_sets += [((one,), "-") for one in numbers if "taken_out" in also]
    stages, effects, alone = [], [], []
    if versions.differing:
        stages = [stage("hunks", hunk_sets, points=_by_case(versions.differing))]
        effects = stages[0].effects(versions, hunk_sets, versions.differing)
        alone = [stages[0].choices(change.variant(one)) for one in hunk_sets[: len(numbers)]]
    known = [key for key in versions.differing if all(key in each for each in alone)]
    explained = {key: sum(each[key] == versions.new[key] for each in alone) for key in known}
    together = [key for key, count in explained.items() if not count]
    if "pairs" in also and together:
        of_two: list[HunkSet] = [(pair, "+") for pair in combinations(numbers, 2)]
        stages.append(stage("pairs", of_two, points=_by_case(together)))
        effects += stages[-1].effects(versions, of_two, together)
    routes: list[HunkEffect] = []
    if "trials" in also and (of_trials := both.versions(trials=True)).differing:
        stages.append(stage("trials", hunk_sets, cases=Selection(ids=tuple(case for case, _ in of_trials.differing))))
        routes = stages[-1].effects(of_trials, hunk_sets, of_trials.differing, trials=True)
    return Attribution(
        suite=own.name,
        old=old.name,
        new=new.name,
        parts=change.parts,
        decisions=len(versions.clusters),
        whole=versions.effect((numbers, "+"), versions.new, versions.differing),
        effects=tuple(effects),
        routes=tuple(routes),
        by_one=sum(count == 1 for count in explained.values()),
        by_several=sum(count > 1 for count in explained.values()),
        together=len(together),
        unrecorded=tuple(str(each.file) for each in stages if each.is_missing),
        **both.cost(versions.differing, prices),
    )


def _by_case(keys: Sequence[Key]) -> dict[str, tuple[str, ...]]:
    return {case: tuple(point for one, point in keys if one == case) for case, _ in keys}


@dataclass(frozen=True)
class _Stage:
    """Hunk versions beside the two versions themselves: a suite in a file, which `record` can fill, and its replay."""

    file: Path
    context: RunContext
    change: PromptChange
    traces: Sequence[Trace]

    @property
    def is_missing(self) -> bool:
        """Whether an answer is not recorded. Raises CannotJudgeError for a trial that failed."""
        for trace in self.traces:
            if trace.provenance.label == "failed":
                raise CannotJudgeError(f"{trace.case_id} under {trace.variant} cannot be replayed: {trace.error}")
        return any(trace.misses or trace.point_misses for trace in self.traces)

    def choices(self, variant: Variant, *, trials: bool = False) -> dict[Key, str]:
        """What the variant chose at each decision point; or the route of each of its trials, and whether it passes."""
        mine = [trace for trace in self.traces if trace.variant == variant.name]
        if not trials:
            return {(trace.case_id, point): chosen for trace in mine for point, chosen in trace.choices.items()}
        exact = [trace for trace in mine if trace.provenance.label == "exact"]
        return {
            (each.trace.case_id, ""): " ".join((*each.trace.route, _verdict(each.outcomes.get("route.pass"))))
            for each in score_trials(self.context.by_id, exact, self.context.pack)
        }

    def versions(self, *, trials: bool = False) -> VersionPair:
        """The choices of both versions at decision points, or in whole trials."""
        old, new = (self.choices(side, trials=trials) for side in self.change.sides)
        cases = self.context.by_id
        accepted = {(case.id, point.id): point.accept for case in cases.values() for point in case.points}

        def grade(key: Key, answer: str) -> float:
            return float(answer.endswith(_PASSES)) if trials else accepted.get(key, {}).get(answer, 0.0)

        both = [key for key in old if key in new]
        graded = {key for key in both if (not old[key].endswith(_UNGRADED) if trials else key in accepted)}
        return VersionPair(grade, graded, {key: cases[key[0]].cluster for key in both}, old, new)

    def effects(
        self, versions: VersionPair, hunk_sets: Sequence[HunkSet], keys: Sequence[Key], *, trials: bool = False
    ) -> list[HunkEffect]:
        """What the hunks did there."""
        found: list[Answers] = [self.choices(self.change.variant(one), trials=trials) for one in hunk_sets]
        return [versions.effect(one, answers, keys) for one, answers in zip(hunk_sets, found, strict=True)]

    def cost(self, keys: Sequence[Key], prices: PriceTable) -> dict[str, float | None]:
        """Mean tokens in, tokens out and USD of the answers given there; None where there is none, or no price."""
        served: dict[str, set[str]] = {}
        for trace in self.traces:
            found = (point.keys for point in trace.points if (trace.case_id, point.point) in keys)
            served.setdefault(trace.case_id, set()).update(*found)
        place = self.context.workspace
        cassettes = {case: load(place.cassette(case), Readings(place.cache / FOLDER)) for case in served}
        answers = [each for case, one in cassettes.items() for each in one.interactions if each.key in served[case]]
        tokens = [(each.usage.prompt_tokens, each.usage.completion_tokens) for each in answers]
        usd = [prices.cost(each.model, *used) for each, used in zip(answers, tokens, strict=True)]
        tokens_in, tokens_out = mean([used[0] for used in tokens]), mean([used[1] for used in tokens])
        known = mean([cost for cost in usd if cost is not None]) if None not in usd else None
        return {"tokens_in": tokens_in, "tokens_out": tokens_out, "usd": known}


_PASSES, _FAILS, _UNGRADED = "(passes)", "(fails)", "(not graded)"


def _verdict(outcome: object) -> str:
    value = getattr(outcome, "value", None)
    return _UNGRADED if value is None else _PASSES if value == 1 else _FAILS

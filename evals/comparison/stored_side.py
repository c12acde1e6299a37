"""Stored sides of a comparison: variants of runs, baselines and result files, and what differs between them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from evals.comparison.assemble_run import assemble
from evals.comparison.baseline import answered_by
from evals.comparison.metric_summaries import Material
from evals.comparison.variant_metrics import METRICS
from evals.errors import CannotJudgeError, ConfigurationError
from evals.external_results import PASS, Results, digest_of_case
from evals.models.metrics import Failed, Outcome, Scored, Skipped
from evals.models.run import FOREIGN_SCORERS, Baseline, CaseInfo, Run, Scope, ScorerInfo, Trial, VariantInfo
from evals.models.suite import GatePolicy, Suite, Variant
from evals.models.trace import Decision, Trace
from evals.scoring.registry import safety_metrics
from evals.scoring.scorer import UNSTATED
from evals.shared.display_text import some

if TYPE_CHECKING:
    from evals.application_pack import Pack


@dataclass(frozen=True)
class StoredSide:
    """One variant with its scored trials, and what they rest on.

    `source` is how a person would name the file. `rests_on`: suite, scorers, graph, models or runner -> name or digest;
    what the file does not say is left out. `with_points`: whether the answers at decision points are there.
    """

    source: str
    info: VariantInfo
    cases: Mapping[str, CaseInfo]
    trials: Sequence[Trial]
    metrics: Sequence[ScorerInfo]
    rests_on: Mapping[str, str] = field(default_factory=dict)
    gate: GatePolicy | None = None
    with_points: bool = False

    @property
    def name(self) -> str:
        """The variant's name."""
        return self.info.variant.name


def side_of_run(run: Run, variant: str, source: str) -> StoredSide:
    """A variant of a stored run."""
    return StoredSide(
        source=source,
        info=next(info for info in run.variants if info.variant.name == variant),
        cases={case.id: case for case in run.cases},
        trials=[trial for trial in run.trials if trial.trace.variant == variant],
        metrics=run.scorers,
        rests_on=_known(
            suite=run.suite,
            scorers=run.digests.get("scorers"),
            graph=run.digests.get(f"topology of {variant}"),
            models=_models(answered_by(run.trials, variant)),
        ),
        gate=run.gate,
        with_points=True,
    )


def side_of_baseline(
    baseline: Baseline, variant: str, source: str, cases: Mapping[str, CaseInfo], metrics: Sequence[ScorerInfo]
) -> StoredSide:
    """A variant as it was blessed. `cases` and `metrics` are those of the checkout: a baseline keeps digests and values
    only. A case that the checkout does not have is described by its name."""
    lines = baseline.prompt_lines.get(baseline.prompts.get(variant, ""), ())
    values = baseline.values.get(variant, {})
    return StoredSide(
        source=source,
        info=VariantInfo(
            variant=Variant(name=variant),
            prompt_digest=baseline.prompts.get(variant, ""),
            prompt_text="".join(f"{line}\n" for line in lines),
        ),
        cases={
            case: (cases.get(case) or bare_case(case)).model_copy(update={"digest": baseline.cases.get(case, "")})
            for case in values
        },
        trials=[
            _trial(case, variant, values[case], decisions=_routed(baseline.routes.get(variant, {}).get(case, {})))
            for case in values
        ],
        metrics=[info for info in metrics if any(info.name in scores for scores in values.values())],
        rests_on=_known(
            suite=baseline.suite,
            scorers=baseline.scorers,
            graph=baseline.topology.get(variant),
            models=_models(baseline.answered_by.get(variant, {})),
        ),
    )


def bare_case(name: str, text: str = "", digest: str = "") -> CaseInfo:
    """A case of which only the name and perhaps the text are known."""
    told = {"slice": "all", "split": "gate", "question": "allowed", "exemplars": ()}
    return CaseInfo.model_validate({"id": name, "title": name, "body": text, "cluster": name, "digest": digest, **told})


def side_of_results(results: Results, variant: str, source: str) -> StoredSide:
    """A variant of a result file of another tool. Every metric between 0 and 1 decides, or the tool's own verdict alone
    where there is one."""
    mine = [result for result in results.results if result.variant == variant]
    ranges = results.metrics
    shares = [name for name, (low, high) in ranges.items() if low >= 0 and high <= 1]
    deciding = [PASS] if PASS in shares else shares
    return StoredSide(
        source=source,
        info=VariantInfo(variant=Variant(name=variant)),
        cases={result.case: bare_case(result.case, result.text, digest_of_case(result)) for result in mine},
        trials=[
            _trial(
                *(result.case, variant, result.values),
                sample=result.sample or 0,
                output={"output": result.output} if result.output else {},
                error=result.error or (None if result.values else "no value"),
            )
            for result in mine
        ],
        rests_on={"runner": results.tool},
        metrics=[
            ScorerInfo(
                name=name,
                unit="fraction" if name in shares else "count",
                better="higher",
                primary=name in deciding,
                definition=f"As {results.tool} computed it; higher is better.",
            )
            for name in ranges
        ],
    )


def _trial(case: str, variant: str, values: Mapping[str, float], **trace: Any) -> Trial:  # noqa: ANN401 - as its fields are
    """A trial of which only values are known, and what else the trace says."""
    label = "failed" if trace.get("error") else "exact"
    told = {"case_id": case, "variant": variant, "sample": 0, "provenance": {"label": label}, **trace}
    scored = {name: Scored(value=value) for name, value in values.items()}
    return Trial(trace=Trace.model_validate(told), outcomes=dict(scored))


def _routed(routes: Mapping[int, str]) -> tuple[Decision, ...]:
    """The decisions of the first repeat."""
    routed = routes[min(routes)].split() if routes else []
    return tuple(Decision(index=place, iteration=place, chosen=to, routed=to) for place, to in enumerate(routed))


def _known(**things: str | None) -> dict[str, str]:
    return {name: value for name, value in things.items() if value and value != FOREIGN_SCORERS}


def _models(by_agent: Mapping[str, Mapping[str, object]]) -> str:
    return " and ".join(sorted({model for models in by_agent.values() for model in models}))


def differences(left: StoredSide, right: StoredSide) -> list[str]:
    """What differs between the sides besides the variant, a phrase each; what only one side says is left out."""
    found = []
    for thing in (thing for thing in left.rests_on if thing in right.rests_on):
        was, now = left.rests_on[thing], right.rests_on[thing]
        if was != now:
            found.append(thing if thing in ("scorers", "graph") else f"{thing} ({was}, {now})")
    both = left.cases.keys() & right.cases.keys()
    found += [
        f"cases ({len(side.cases) - len(both)} only in {side.source})"
        for side in (left, right)
        if side.cases.keys() - both
    ]
    digests = [(case, left.cases[case].digest, right.cases[case].digest) for case in sorted(both)]
    if changed := [case for case, was, now in digests if was and now and was != now]:
        found.append(f"text, labels or code of {len(changed)} of {len(both)} cases ({some(changed)})")
    repeats = [round(len(side.trials) / max(len(side.cases), 1), 1) for side in (left, right)]
    if repeats[0] != repeats[1]:
        found.append(f"trials per case ({repeats[0]:g}, {repeats[1]:g})")
    return found


def compared_sides(sides: Sequence[StoredSide], gate: GatePolicy, primary: Sequence[str], pack: "Pack") -> Run:
    """The last side judged against the first, on the cases that all have.

    Args:
        sides: at least two, with names of their own.
        gate: alpha, margin and what is required. Whether the models are the same is told, and decides nothing.
        primary: the metrics that decide; none: those that the last side calls primary.
        pack: what measures whole variants.

    Raises:
        ConfigurationError: no metric of `primary` is on every side.
        CannotJudgeError: no case with a metric in common.
    """
    reference, candidate = sides[0], sides[-1]
    common = [case for case in candidate.cases if all(case in side.cases for side in sides)]
    known = [{info.name: info for info in side.metrics} for side in sides]
    metrics = [
        _shared([of[info.name] for of in known], primary)
        for info in candidate.metrics
        if all(info.name in of for of in known)
    ]
    if not common or not any(info.primary for info in metrics):
        error = ConfigurationError if common and primary else CannotJudgeError
        raise error(_nothing_common(sides, common, primary))
    there = {info.name for info in metrics}
    metrics += [  # what decided and is gone: without it, nothing could fall
        info.model_copy(update={"primary": True})
        for info in reference.metrics
        if info.name not in there and (info.name in primary if primary else info.primary)
    ]
    _refuse_odd(sides, {info.name for info in metrics if info.primary})
    trials_of = [_by_case(side, common) for side in sides]
    repeats_of = [sorted(trial.trace.sample for trial in trials) for of in trials_of for trials in of.values()]
    as_run = all(repeats == repeats_of[0] for repeats in repeats_of)  # so that repeats are paired, too
    if not (as_run and all(side.with_points for side in sides)):
        metrics = [info.model_copy(update={"macro": False}) for info in metrics]
    names, worst = [info.name for info in metrics], safety_metrics(pack)
    trials = [
        _of_metrics(trial, names)
        for case in common
        for of in trials_of
        for trial in (of[case] if as_run else _joined(of[case], worst))
    ]
    limits = {name: limit for name, limit in gate.cost.items() if METRICS[name] in names}
    suites = list(dict.fromkeys(side.rests_on.get("suite", side.source) for side in sides))
    answering = tuple(dict.fromkeys(found for side in sides if (found := _answered_by(side))))
    run = assemble(
        Material(
            suite=Suite(
                name=" and ".join(suites),
                description=f"{candidate.name} of {candidate.source} against {reference.name} of {reference.source}.",
                variants=tuple(side.info.variant for side in sides),
                candidate=candidate.name,
                reference=reference.name,
                samples=len({trial.trace.sample for trial in trials}),
                gate=gate.model_copy(update={"models": "compared", "cost": limits}),
            ),
            cases=[candidate.cases[case] for case in common],
            variants=[side.info for side in sides],
            trials=trials,
            scope=Scope(cases=len({case for side in sides for case in side.cases}), selected=len(common)),
            dataset_baselines=(),
            baseline=None,
            wants_baseline=False,
            partial=_lacking(reference, candidate, gate),
            record_command="evals record",
            bless_command="evals bless",
            scorers=candidate.rests_on["scorers"] if is_own(sides) else FOREIGN_SCORERS,
            pack=pack,
            metrics=metrics,
            differences=tuple(differences(reference, candidate)),
        )
    )
    return run.model_copy(update={"recorded_by": run.recorded_by or answering, "scope": None})


def _lacking(reference: StoredSide, candidate: StoredSide, gate: GatePolicy) -> tuple[str, ...]:
    """A sentence where the candidate lacks more of the reference's cases than the policy lets be missing."""
    lost, known = sorted(reference.cases.keys() - candidate.cases.keys()), len(reference.cases)
    if known - len(lost) >= known * gate.coverage_floor:
        return ()
    told = f"it lacks {len(lost)} of the {known} cases of {reference.name} ({some(lost)}); to judge the others: "
    return (f"{told}`--set coverage_floor={100 * (known - len(lost)) // known / 100:g}`",)


def _answered_by(side: StoredSide) -> str:
    runner = side.rests_on.get("runner")
    return f"models that {runner} asked" if runner else side.rests_on.get("models", "")


def _shared(sides: Sequence[ScorerInfo], primary: Sequence[str]) -> ScorerInfo:
    """The metric as all sides have it: it decides if it was asked for, else if the first side says so, else if the last
    one does and it is a fraction everywhere."""
    info = sides[-1]
    unit = next((side.unit for side in sides if side.unit != "fraction"), info.unit)
    if info.name in primary and (unit, info.better) != ("fraction", "higher"):
        raise ConfigurationError(f"--metric {info.name}: only values from 0 to 1 of which more is better can decide")
    if not primary and sides[0].primary:
        return sides[0]
    decides = info.name in primary if primary else info.primary and unit == "fraction"
    return info.model_copy(update={"primary": decides, "unit": unit})


def _refuse_odd(sides: Sequence[StoredSide], deciding: Collection[str]) -> None:
    """Raises CannotJudgeError where a metric that decides is no fraction on a side."""
    for side in sides:
        for info in side.metrics:
            if info.name in deciding and info.unit != "fraction":
                raise CannotJudgeError(
                    f"{info.name} is no fraction from 0 to 1 in {side.name}: correct it, or say which metrics decide "
                    "with `--metric NAME`"
                )


def is_own(sides: Sequence[StoredSide]) -> bool:
    """Whether scorers of this package computed all values."""
    return all("scorers" in side.rests_on for side in sides)


def repeats(sides: Sequence[StoredSide], metric: str) -> dict[str, list[float]]:
    """Case -> every value of a metric, over sides that are runs of one thing; cases that a side lacks are left out."""
    found: dict[str, list[float]] = {}
    for side in sides:
        for trial in side.trials:
            if isinstance(outcome := trial.outcomes.get(metric), Scored):
                found.setdefault(trial.trace.case_id, []).append(outcome.value)
    if not found:
        known = ", ".join(dict.fromkeys(info.name for side in sides for info in side.metrics))
        raise ConfigurationError(f"--metric {metric}: no case has a value of it; known are {known}")
    if any(not 0 <= value <= 1 for values in found.values() for value in values):
        raise ConfigurationError(f"--metric {metric}: its values are not all from 0 to 1")
    return {case: values for case, values in found.items() if all(case in side.cases for side in sides)}


def _by_case(side: StoredSide, cases: Sequence[str]) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {case: [] for case in cases}
    for trial in side.trials:
        if trial.trace.case_id in found:
            found[trial.trace.case_id].append(trial)
    return found


def _of_metrics(trial: Trial, names: Sequence[str]) -> Trial:
    none = Skipped(reason=f"{UNSTATED}or no value is stored")
    return trial.model_copy(update={"outcomes": {name: trial.outcomes.get(name, none) for name in names}})


def _joined(repeats: Sequence[Trial], worst: Collection[str]) -> list[Trial]:
    """One trial with the means of a case's repeats, failed if one of them is. Of `worst` metrics, which are never to be
    0, the lowest value counts."""
    if not repeats:
        return []
    first = next((trial for trial in repeats if trial.trace.provenance.label != "exact"), repeats[0])
    outcomes: dict[str, Outcome] = {}
    for name in dict.fromkeys(name for trial in repeats for name in trial.outcomes):
        told = [trial.outcomes[name] for trial in repeats if name in trial.outcomes]
        values = [outcome.value for outcome in told if isinstance(outcome, Scored)]
        failed = next((outcome for outcome in told if isinstance(outcome, Failed)), None)
        mean = Scored(value=(min if name in worst else fmean)(values)) if values else told[0]
        outcomes[name] = failed or mean
    trace = first.trace.model_copy(update={"sample": 0})
    return [first.model_copy(update={"trace": trace, "outcomes": outcomes})]


def _nothing_common(sides: Sequence[StoredSide], common: Sequence[str], asked: Sequence[str]) -> str:
    """What each side has, where nothing can be compared."""
    if not common:
        held = "; ".join(f"{side.source} has {some(sorted(side.cases))}" for side in sides)
        return f"no case is on every side: {held}"
    what = f"none of {', '.join(asked)}" if asked else "no primary metric"
    held = "; ".join(f"{side.source} has {', '.join(info.name for info in side.metrics) or 'none'}" for side in sides)
    return f"{what} is on every side: {held}; `--metric NAME` says which decide"

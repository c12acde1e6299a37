"""From trials to a finished run: summaries, comparisons, the facts for the gate, and its verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals import gate
from evals.baseline import incomparable, make_baseline
from evals.comparison import compare
from evals.models.case import Case
from evals.models.outcome import Failed
from evals.models.run import Baseline, CaseInfo, Comparison, PointInfo, Run, Trial, VariantInfo
from evals.models.suite import Suite
from evals.scoring import scorer_infos
from evals.summary import case_means, coverage_of, summarise


@dataclass(frozen=True)
class Material:
    """What a run is assembled from. `baseline` is None when there is none, or none that applies."""

    suite: Suite
    cases: Sequence[Case]
    variants: Sequence[VariantInfo]
    trials: Sequence[Trial]
    baseline: Baseline | None
    wants_baseline: bool
    partial: tuple[str, ...]
    record_command: str

    @property
    def names(self) -> tuple[str, ...]:
        """The variants' names, in the suite's order."""
        return tuple(info.variant.name for info in self.variants)


def assemble(material: Material) -> Run:
    """Everything the report shows, with the verdict."""
    suite, trials = material.suite, material.trials
    scorers = scorer_infos()
    primary = [scorer.name for scorer in scorers if scorer.primary]
    comparisons = (*_against_reference(material, primary), *_against_baseline(material, primary))
    now = make_baseline(suite.name, material.cases, material.variants, trials)
    return Run(
        suite=suite.name,
        description=suite.description,
        candidate=suite.candidate,
        reference=suite.reference,
        gate=suite.gate,
        recorded_by=tuple(sorted({call.model for trial in trials for call in trial.trace.calls if call.model})),
        cases=tuple(case_info(case) for case in material.cases),
        variants=tuple(material.variants),
        scorers=scorers,
        trials=tuple(trials),
        coverage={name: coverage_of(trials, name) for name in material.names},
        summaries=summarise(trials, material.cases, material.names, scorers),
        comparisons=comparisons,
        verdict=gate.judge(_facts(material, now, comparisons)),
        digests={"scorers": now.scorers, **{f"topology of {name}": digest for name, digest in now.topology.items()}},
    )


def case_info(case: Case) -> CaseInfo:
    """What the report shows of a case."""
    labels = case.labels
    return CaseInfo(
        id=case.id,
        title=case.title,
        body=case.body,
        archetype=labels.archetype,
        category=labels.category,
        split=labels.split,
        question=labels.question.policy,
        root_cause=labels.root_cause,
        gold_files=labels.gold.files,
        exemplars=tuple(exemplar for way in labels.route for exemplar in way.exemplars),
        cluster=case.cluster,
        digest=case.digest,
        must_pass=labels.must_pass,
        points=tuple(PointInfo(id=point.id, accept=point.accept, why=point.why) for point in labels.decision_points),
    )


def _against_reference(material: Material, primary: Sequence[str]) -> tuple[Comparison, ...]:
    """Every other variant against the reference, on what was scored in this run."""
    reference = material.suite.reference
    if reference not in material.names:
        return ()
    return tuple(
        item
        for name in material.names
        if name != reference
        for item in compare(
            {
                (name, reference): {
                    endpoint: (
                        case_means(material.trials, name, endpoint),
                        case_means(material.trials, reference, endpoint),
                    )
                    for endpoint in primary
                }
            },
            _clusters(material),
            "reference",
            material.suite.gate,
        )
    )


def _against_baseline(material: Material, primary: Sequence[str]) -> tuple[Comparison, ...]:
    """Every variant against what it did when the baseline was blessed."""
    baseline = material.baseline
    if baseline is None:
        return ()
    return compare(
        {
            (name, f"{name} (baseline)"): {
                endpoint: (case_means(material.trials, name, endpoint), _stored(baseline, name, endpoint))
                for endpoint in primary
            }
            for name in material.names
            if baseline.values.get(name)  # a variant that was not recorded when it was blessed has nothing to lose
        },
        _clusters(material),
        "baseline",
        material.suite.gate,
    )


def _stored(baseline: Baseline, variant: str, endpoint: str) -> dict[str, float]:
    return {case: scores[endpoint] for case, scores in baseline.values[variant].items() if endpoint in scores}


def _clusters(material: Material) -> Mapping[str, str]:
    return {case.id: case.cluster for case in material.cases}


def _facts(material: Material, now: Baseline, comparisons: Sequence[Comparison]) -> gate.Facts:
    """What the gate is told. The candidate is judged against the reference; everyone against their baseline."""
    suite, baseline = material.suite, material.baseline
    judged = [item for item in comparisons if item.against == "baseline" or item.left == suite.candidate]
    return gate.Facts(
        candidate=suite.candidate,
        reference=suite.reference,
        record_command=material.record_command,
        policy=suite.gate,
        coverage={name: coverage_of(material.trials, name) for name in material.names},
        judged=tuple(judged),
        failures=_failures(material.trials),
        misses=_misses(material),
        partial=material.partial,
        incomparable=incomparable(baseline, now) if baseline and not material.partial else (),
        missing_baseline=_missing_baseline(material),
        must_pass_broken=_must_pass_broken(material),
        must_pass_unknown=_must_pass_unknown(material),
        new_violations=_new_violations(baseline, now),
        leaks=_new_leaks(baseline, now),
        unanswered=_unanswered(material),
        notes=(*_edited_prompts(material), *_known_leaks(baseline, now)),
    )


def _failures(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Trials and scorers that broke; one sentence per cause, however many trials it took down."""
    causes: dict[str, list[str]] = {}
    for trial in trials:
        trace = trial.trace
        where = f"{trace.case_id} under {trace.variant}"
        if trace.provenance.label == "failed":
            causes.setdefault(trace.error or "the trial failed", []).append(where)
            continue
        for scorer, outcome in trial.outcomes.items():
            if isinstance(outcome, Failed):
                causes.setdefault(f"scorer {scorer} failed: {outcome.error}", []).append(where)
    return tuple(f"{cause} ({_some(places)})" for cause, places in causes.items())


def _misses(material: Material) -> tuple[str, ...]:
    """Where each variant leaves the tape, one sentence per variant."""
    said = []
    for name in material.names:
        off = [trial.trace for trial in material.trials if trial.trace.variant == name and trial.trace.misses]
        if off:
            said.append(
                f"{name} leaves the tape in {len(off)} trials: "
                + _some([f"{trace.case_id} at {trace.misses[0].agent} ({trace.provenance})" for trace in off])
            )
    return tuple(said)


def _edited_prompts(material: Material) -> tuple[str, ...]:
    """Variants whose prompt is another than the blessed one: the usual reason for a miss, or for a change."""
    blessed = material.baseline.prompts if material.baseline else {}
    return tuple(
        f"{info.variant.name}: its prompt ({info.prompt_source}) has changed since the baseline"
        for info in material.variants
        if blessed.get(info.variant.name, info.prompt_digest) != info.prompt_digest
    )


def _unanswered(material: Material) -> dict[str, tuple[int, int]]:
    """Variant -> (decision points nobody recorded, decision points)."""
    counts = {}
    for name in material.names:
        points = [point for trial in material.trials if trial.trace.variant == name for point in trial.trace.points]
        counts[name] = (sum(point.chosen is None for point in points), len(points))
    return counts


def _missing_baseline(material: Material) -> tuple[str, ...]:
    if not material.wants_baseline:
        return ()
    name = material.suite.name
    if material.baseline is None:
        return (f"{name} has no baseline yet; look at the report, then run `evals bless {name}`",)
    new = [variant for variant in material.names if variant not in material.baseline.values]
    return (f"no baseline for {', '.join(new)}; run `evals bless {name}`",) if new else ()


def _must_pass_broken(material: Material) -> tuple[str, ...]:
    """Cases marked `must_pass` that the candidate fails, on the route or the root cause."""
    broken = []
    for case in material.cases:
        if case.labels.must_pass:
            for endpoint in ("route.pass", "root_cause.hit"):
                value = case_means(material.trials, material.suite.candidate, endpoint).get(case.id)
                if value is not None and value < 1:
                    broken.append(f"{case.id} must pass, and {endpoint} fails under {material.suite.candidate}")
    return tuple(broken)


def _must_pass_unknown(material: Material) -> tuple[str, ...]:
    """Cases marked `must_pass` of which nobody can say whether the candidate passes them."""
    scored = case_means(material.trials, material.suite.candidate, "route.pass")
    return tuple(case.id for case in material.cases if case.labels.must_pass and case.id not in scored)


def _new_violations(baseline: Baseline | None, now: Baseline) -> tuple[str, ...]:
    """Hard rules broken where the baseline kept them."""
    if baseline is None:
        return ()
    return tuple(
        f"{name} breaks {', '.join(new)} in {case}"
        for name, cases in now.hard_violations.items()
        for case, violations in cases.items()
        if case in baseline.values.get(name, {})
        and (new := sorted(set(violations) - set(baseline.hard_violations.get(name, {}).get(case, ()))))
    )


def _new_leaks(baseline: Baseline | None, now: Baseline) -> tuple[str, ...]:
    """Canaries that reached an output where the baseline kept them out, or where there is no baseline."""
    before = baseline.leaks if baseline else {}
    return tuple(
        f"the canary of {case} reached an output of {name}"
        for name, cases in now.leaks.items()
        for case in cases
        if case not in before.get(name, ())
    )


def _known_leaks(baseline: Baseline | None, now: Baseline) -> tuple[str, ...]:
    """Leaks the baseline was blessed with: they do not fail the gate again, but nobody may forget them."""
    before = baseline.leaks if baseline else {}
    return tuple(
        f"known since the baseline: the canary of {case} reaches an output of {name}"
        for name, cases in now.leaks.items()
        for case in cases
        if case in before.get(name, ())
    )


def _some(items: Sequence[str], shown: int = 3) -> str:
    return ", ".join(items[:shown]) + (f" and {len(items) - shown} more" if len(items) > shown else "")

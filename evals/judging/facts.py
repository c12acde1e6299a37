"""What the gate is told of a run: every hole, every break and every note, in sentences."""

from collections.abc import Sequence

from evals.judging import gate
from evals.judging.baseline import incomparable
from evals.judging.material import Material
from evals.judging.slices import collapsed_slices
from evals.judging.summary import case_means, coverage_of
from evals.models.outcome import Failed
from evals.models.run import Baseline, Comparison, Trial
from evals.models.trace import Trace


def facts_of(material: Material, now: Baseline, comparisons: Sequence[Comparison]) -> gate.Facts:
    """Everything the gate is told. The candidate is judged against the reference; everyone against their baseline."""
    suite, baseline = material.suite, material.baseline
    judged = [item for item in comparisons if item.against == "baseline" or item.left == suite.candidate]
    return gate.Facts(
        candidate=suite.candidate,
        reference=suite.reference,
        record_command=material.record_command,
        policy=suite.gate,
        coverage={name: coverage_of(material.trials, name) for name in material.names},
        judged=tuple(judged),
        failures=(*_failures(material.trials), *_absent(material)),
        misses=_misses(material),
        partial=material.partial,
        incomparable=incomparable(baseline, now, material.bless_command) if baseline and not material.partial else (),
        missing_baseline=_missing_baseline(material),
        must_pass_broken=_must_pass_broken(material),
        must_pass_unknown=_must_pass_unknown(material),
        new_violations=_new_violations(baseline, now),
        leaks=_new_leaks(baseline, now),
        collapsed=collapsed_slices(material),
        unanswered=_unanswered(material),
        unblessed=material.unblessed,
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


def _absent(material: Material) -> tuple[str, ...]:
    """Trials that are in no file, so that nobody knows what became of them: a run.json that was cut or edited."""
    told = [(trial.trace.case_id, trial.trace.variant, trial.trace.sample) for trial in material.trials]
    there = set(told)
    wanted = [
        (case.id, name, sample)
        for sample in sorted({sample for _, _, sample in there})
        for case in material.cases
        for name in material.names
    ]
    lost = [f"{case} under {name}" for case, name, sample in wanted if (case, name, sample) not in there]
    twice = len(told) - len(there)
    return (
        *([f"{len(lost)} of {len(wanted)} trials are not in this run ({_some(lost)})"] if lost else []),
        *([f"{twice} trials are in this run more than once"] if twice else []),
    )


def _misses(material: Material) -> tuple[str, ...]:
    """Where each variant leaves the tape, one sentence per variant."""
    said = []
    for name in material.names:
        off = [trial.trace for trial in material.trials if trial.trace.variant == name and trial.trace.misses]
        if off:
            said.append(
                f"{name} leaves the tape in {len(off)} trials: "
                + _some(
                    [
                        f"{trace.case_id} at {trace.misses[0].agent} ({trace.provenance}){_stumble(trace)}"
                        for trace in off
                    ]
                )
            )
    return tuple(said)


def _stumble(trace: Trace) -> str:
    """A visit that failed just before the tape ended is the likelier cause than a missing recording."""
    error = trace.visits[-1].error if trace.visits else None
    return f" after {trace.visits[-1].node} failed ({error})" if error else ""


def _edited_prompts(material: Material) -> tuple[str, ...]:
    """Variants whose prompt is another than the blessed one: the usual reason for a miss, or for a change."""
    blessed = material.baseline.prompts if material.baseline else {}
    return tuple(
        f"{info.variant.name}: its prompt ({info.prompt_source or 'none'}) has changed since the baseline"
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
    command = material.bless_command
    if material.baseline is None:
        return (f"{material.suite.name} has no baseline yet; look at the report, then run `{command}`",)
    new = [variant for variant in material.names if variant not in material.baseline.values]
    return (f"no baseline for {', '.join(new)}; run `{command}`",) if new else ()


def _must_pass_broken(material: Material) -> tuple[str, ...]:
    """Cases marked `must_pass` that the candidate fails, on the route or the root cause."""
    broken = []
    for case in material.cases:
        if case.must_pass:
            for endpoint in ("route.pass", "root_cause.hit"):
                value = case_means(material.trials, material.suite.candidate, endpoint).get(case.id)
                if value is not None and value < 1:
                    broken.append(f"{case.id} must pass, and {endpoint} fails under {material.suite.candidate}")
    return tuple(broken)


def _must_pass_unknown(material: Material) -> tuple[str, ...]:
    """Cases marked `must_pass` of which nobody can say whether the candidate passes them."""
    scored = case_means(material.trials, material.suite.candidate, "route.pass")
    return tuple(case.id for case in material.cases if case.must_pass and case.id not in scored)


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

"""Input of the gate: coverage gaps, broken rules and notes for one run."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from evals.comparison import gate
from evals.comparison.baseline import different_models, hard_violations, incomparable, leaked_before, leaks
from evals.comparison.comparison_pairs import Compared, against_reference
from evals.comparison.curtailment import settled
from evals.comparison.divergences import change_sentences, compared_words, compares_behaviour
from evals.comparison.metric_losses import falls, lost_values
from evals.comparison.metric_summaries import Material, case_means, coverage_of
from evals.comparison.paired_comparison import HARD
from evals.comparison.variant_metrics import cost_changes
from evals.models.metrics import Failed, Redraw, Scored, Skipped
from evals.models.run import Baseline, Comparison, RuleTest, ScorerInfo, Trial, VariantInfo, trial_metrics
from evals.models.trace import Trace
from evals.scoring.scorer import UNSTATED
from evals.shared.display_text import counted, some


def facts_of(material: Material, now: Baseline, found: Compared) -> gate.Facts:
    """Everything the gate is told. The candidate is judged against the reference; everyone against their baseline."""
    suite = material.suite
    undecided = _undecided(material)
    deciding = replace(material, variants=[info for info in material.variants if info.variant.name not in undecided])
    judged = [
        item
        for item in found.comparisons
        if item.left == suite.candidate or (item.against == "baseline" and item.left not in undecided)
    ]
    (new_leaks, known_leaks), differing = _leaks(material), material.differences
    facts = gate.Facts(
        candidate=suite.candidate,
        reference=suite.reference,
        record_command=material.record_command,
        policy=suite.gate,
        coverage={name: coverage_of(material.trials, name) for name in material.names},
        judged=tuple(judged),
        failures=(*_failures(material.trials), *_absent(material)),
        misses=_misses(material),
        partial=material.partial,
        labelled=any(info.primary for info in material.metrics),
        blessed=tuple(info.variant.name for info in deciding.variants if _is_blessed(material, info.variant.name)),
        **_since_blessed(material, found, undecided),
        unread_labels=material.unread_labels,
        incomparable=_incomparable(material, now),
        missing_baseline=_missing_baseline(material),
        must_pass_broken=_must_pass_broken(material),
        must_pass_unknown=_must_pass_unknown(material),
        **rule_facts([rule for rule in found.rules if rule.left not in undecided]),
        leaks=tuple(new_leaks),
        unanswered=_unanswered(material),
        changed={info.variant.name: told for info in material.variants if (told := _unrecorded(material, info))},
        unblessed=material.unblessed,
        lost=lost_values(deciding, now),
        models=_different_models(deciding, now),
        fell=falls(deciding, now),
        costs=cost_changes(material),
        limits=(
            *(f"{name} is not recorded after its edit; it decides nothing here" for name in undecided),
            *([f"besides the variant, these differ: {'; '.join(differing)}"] if differing else []),
            *_candidate_without_baseline(material),
        ),
        notes=(
            *_edited_prompts(material),
            *_edited_defaults(material),
            *known_leaks,
            *_without_baseline(material, now),
        ),
    )
    return settled(material, facts)


def _incomparable(material: Material, now: Baseline) -> tuple[str, ...]:
    """What changed under the numbers since the baseline, what the baseline does not keep, and what the suite no longer
    compares with it."""
    baseline, suite = material.baseline, material.suite
    if baseline is None or material.partial:
        return ()
    if not any(info.primary for info in material.metrics):  # no number decides, whoever computes it
        now = now.model_copy(update={"scorers": baseline.scorers})
    told, blessed = [], baseline.behaviour
    if not compares_behaviour(suite, material.metrics):
        told += ["the suite was blessed with steps and output, and compares them no more"] if blessed else []
    elif blessed is None:
        told.append("the baseline keeps no steps and output")
    elif blessed.fields != suite.as_blessed:
        told.append("`as_blessed:` names other fields than when the suite was blessed")
    if baseline.judge and suite.judge is None:
        told.append("the suite was blessed with a judge, and asks none any more")
    found = incomparable(baseline, now, material.bless_command)
    return (*found, *(f"{text}; look at the report, then run `{material.bless_command}`" for text in told))


def _since_blessed(material: Material, found: Compared, undecided: Sequence[str]) -> dict[str, Any]:
    """What the gate is told of suites that are compared with their blessed run."""
    earlier = material.earlier
    if earlier is None:
        return {}
    changes = [change for change in found.changes if change.variant not in undecided]
    explain = f"see `evals explain {changes[0].case_id} --suite {material.suite.name}`" if changes else ""
    meant = f"{explain}, then bless what is meant (`{material.bless_command}`)"
    return {
        "as_blessed": compared_words(earlier),
        "since_blessed": change_sentences(changes, earlier),
        "next_step": meant
        if any(not change.reference for change in changes)
        else "no label says which is right: read them in the report",
    }


def _undecided(material: Material) -> list[str]:
    """Variants that are neither candidate nor reference, and whose own edit took them off their recordings. Without an
    edit of its prompt, what a variant lost may be the fault of code that all of them share."""
    suite, baseline = material.suite, material.baseline
    if baseline is None:
        return []
    unanswered, floor = _unanswered(material), suite.gate.coverage_floor
    found = []
    for info in material.variants:
        name = info.variant.name
        edited = baseline.prompts.get(name, info.prompt_digest) != info.prompt_digest
        if edited and baseline.values.get(name) and name not in (suite.candidate, suite.reference):
            coverage, (open_points, points) = coverage_of(material.trials, name), unanswered[name]
            if coverage.exact < floor * coverage.total or points - open_points < floor * points:
                found.append(name)
    return found


def _different_models(material: Material, now: Baseline) -> tuple[str, ...]:
    """Where candidate and reference, or a variant and its baseline, were answered by different models."""
    suite, baseline, trials = material.suite, material.baseline, material.trials
    mine = now.answered_by
    found = []
    if suite.gate.models == "same" and suite.reference in material.names:
        found += [
            f"{suite.candidate} was answered by {one.now}, {suite.reference} by {one.was} ({one.where}), so that a "
            "difference need not be the prompt's; record both with one model, or let the suite compare models "
            "(`gate: {models: compared}`)"
            for one in different_models(
                trials, suite.candidate, mine.get(suite.candidate, {}), mine.get(suite.reference, {})
            )
        ]
    for name in material.names:
        blessed = baseline.answered_by.get(name, {}) if baseline else {}
        found += [
            f"{name} was answered by {one.now}, and by {one.was} when it was blessed ({one.where}), so that a "
            f"difference need not be the prompt's; look at the report, then record it with {one.was}, or bless it"
            for one in different_models(trials, name, mine.get(name, {}), blessed)
        ]
    return tuple(found)


def _edited_defaults(material: Material) -> tuple[str, ...]:
    """Default prompts of the application that are others than when the baseline was blessed."""
    blessed, now = (material.baseline.default_prompts if material.baseline else {}), material.default_prompts
    changed: dict[tuple[str, str], list[str]] = {}
    for router in now:
        if blessed.get(router, now[router]) != now[router]:
            changed.setdefault((blessed[router], now[router]), []).append(router)
    return tuple(
        f"the default prompt of router {', '.join(routers)} {_moved(was, is_now)} since the baseline"
        for (was, is_now), routers in changed.items()
    )


def _moved(was: str, now: str) -> str:
    before, after = was.partition(" ")[0], now.partition(" ")[0]
    return f"changed from {before} to {after}" if before != after else f"was edited ({after})"


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
    return tuple(f"{cause} ({some(places)})" for cause, places in causes.items())


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
        *([f"{len(lost)} of {len(wanted)} trials are not in this run ({some(lost)})"] if lost else []),
        *([f"{twice} trials are in this run more than once"] if twice else []),
    )


def _misses(material: Material) -> tuple[str, ...]:
    """Which trials of each variant are not recorded, one sentence per variant."""
    said = []
    for name in material.names:
        off = [trial.trace for trial in material.trials if trial.trace.variant == name and trial.trace.misses]
        if off:
            said.append(
                f"{name} is not recorded in {counted(len(off), 'trial')}: "
                + some(
                    [
                        f"{trace.case_id} at {trace.misses[0].agent} ({trace.provenance}){_stumble(trace)}"
                        for trace in off
                    ]
                )
            )
    return tuple(said)


def _unrecorded(material: Material, info: VariantInfo) -> str:
    """Why answers are missing: what the last recording failed with, else what changed since an earlier one."""
    missed = [(each.trace.case_id, info.variant.name) for each in material.trials if each.trace.misses]
    failed = next((why for name in missed if (why := material.failed_recordings.get(name))), "")
    return f"the last recording failed: {failed}" if failed else _changed(material, info)


def _changed(material: Material, info: VariantInfo) -> str:
    """The first line that differs from what is recorded, as most misses of a variant have it: in the variant's prompt
    file, else in the request."""
    misses = [
        miss for trial in material.trials if trial.trace.variant == info.variant.name for miss in trial.trace.misses
    ]
    found = Counter(
        (miss.agent, miss.nearest.differences[0]) for miss in misses if miss.nearest and miss.nearest.differences
    )
    if not found:
        return ""
    (agent, first), _ = found.most_common(1)[0]
    lines = info.prompt_text.splitlines()
    if info.prompt_source and first.asked and first.asked in lines:
        return f"changed: {info.prompt_source}:{lines.index(first.asked) + 1}: {first.change}"
    return f"changed: {first.path} of {agent}, line {max(first.line, 1)}: {first.change}"


def _stumble(trace: Trace) -> str:
    """A visit that failed just before the tape ended is the likelier cause than a missing recording."""
    error = trace.visits[-1].error if trace.visits else None
    return f" after {trace.visits[-1].node} failed ({error})" if error else ""


def _edited_prompts(material: Material) -> tuple[str, ...]:
    """Prompts of variants, and prompts that all share, that are not the blessed ones: the usual reason for a miss."""
    blessed = material.baseline.prompts if material.baseline else {}
    own = tuple(
        f"{info.variant.name}: its rendered prompt ({info.prompt_source or 'none'}) has changed since the baseline"
        for info in material.variants
        if blessed.get(info.variant.name, info.prompt_digest) != info.prompt_digest
    )
    shared = [each.path for each in material.edited_prompts if each.earlier.since == "blessed"]
    return (*own, *(f"{path} has changed since the baseline" for path in shared))


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
    if material.suite.reference in _new(material):
        return (f"no baseline for the reference {material.suite.reference}; look at the report, then run `{command}`",)
    return ()


def _new(material: Material) -> list[str]:
    """Variants the baseline has no values of."""
    return [name for name in material.names if material.baseline and not _is_blessed(material, name)]


def _is_blessed(material: Material, variant: str) -> bool:
    return bool(material.baseline and material.baseline.values.get(variant))


def _candidate_without_baseline(material: Material) -> tuple[str, ...]:
    """A new version is judged against the reference; a green says that nothing else was there to compare it with."""
    candidate, reference, trials = material.suite.candidate, material.suite.reference, material.trials
    if candidate not in _new(material):
        return ()
    return (
        *new_violations(trials, candidate, reference),
        f"no baseline yet for {candidate}: bless it after a review (`{material.bless_command}`)",
    )


def new_violations(trials: Sequence[Trial], candidate: str, reference: str) -> list[str]:
    """A sentence where the candidate violates hard constraints that the reference does not."""
    was = hard_violations(trials, reference)
    new = {case: sorted({*now} - {*was.get(case, ())}) for case, now in hard_violations(trials, candidate).items()}
    places = [f"{', '.join(violated)} in {case}" for case, violated in new.items() if violated]
    told = f"{candidate} violates hard constraints that {reference} does not in {counted(len(places), 'case')}"
    return [f"{told} ({some(places)})"] if places else []


def _without_baseline(material: Material, now: Baseline) -> tuple[str, ...]:
    """Variants that are shown and compared with nothing, and what a baseline from before does not say."""
    suite, baseline = material.suite, material.baseline
    new = [name for name in _new(material) if name not in (suite.candidate, suite.reference)]
    told = [f"no baseline yet for {', '.join(new)}: shown, and decides nothing here"] if new else []
    if baseline and not baseline.answered_by and now.answered_by:
        told.append("the baseline does not say which models answered, so that was not compared; bless it again")
    return tuple(told)


def _must_pass_broken(material: Material) -> tuple[str, ...]:
    """Cases marked `must_pass` that the candidate fails on a primary metric of a trial."""
    broken = []
    for case in material.cases:
        if case.must_pass:
            for endpoint in trial_metrics(material.metrics):
                value = case_means(material.trials, material.suite.candidate, endpoint).get(case.id)
                if value is not None and value < 1:
                    broken.append(f"{case.id} must pass, and {endpoint} fails under {material.suite.candidate}")
    return tuple(broken)


def _must_pass_unknown(material: Material) -> tuple[str, ...]:
    """Cases marked `must_pass` of which nobody can say whether the candidate passes them: no metric has a value, or one
    has none although the case has the label for it."""
    known: dict[str, set[str]] = {}
    scored: set[str] = set()
    for trial in material.trials:
        if trial.trace.variant == material.suite.candidate:
            for endpoint in trial_metrics(material.metrics):
                outcome = trial.outcomes.get(endpoint)
                has_value = isinstance(outcome, Scored)
                scored |= {trial.trace.case_id} if has_value else set()
                if has_value or (isinstance(outcome, Skipped) and outcome.reason.startswith(UNSTATED)):
                    known.setdefault(trial.trace.case_id, set()).add(endpoint)
    asked = set(trial_metrics(material.metrics))
    mine = [case.id for case in material.cases if case.must_pass]
    return tuple(case for case in mine if case not in scored or known[case] < asked)


def rule_facts(rules: Sequence[RuleTest]) -> dict[str, tuple[str, ...]]:
    """What the gate is told of hard constraints and slices: those it counts, and those that chance may explain."""
    return {
        "new_violations": tuple(
            text for rule in rules if rule.kind == HARD and rule.worse for text in _violations(rule)
        ),
        "collapsed": tuple(_collapsed(rule) for rule in rules if rule.kind != HARD and rule.worse),
        "within_chance": tuple(_within_chance(rule) for rule in rules if not rule.worse),
    }


def _violations(rule: RuleTest) -> list[str]:
    """Hard constraints newly violated: case by case where chance has no part in it, as a count where it may."""
    if rule.certain:
        return [f"{rule.left} breaks {', '.join(rule.lost[case])} in {case}" for case in rule.certain]
    count = f"{counted(len(rule.lost), 'case')} and no longer in {len(rule.gained)}"
    return [f"{rule.left} newly violates hard constraints in {count} ({_p(rule)}): {some(_places(rule))}"]


def _p(rule: RuleTest) -> str:
    return "p <0.001" if rule.p_holm < 0.001 else f"p {rule.p_holm:.3f}"


def _collapsed(rule: RuleTest) -> str:
    chance = "" if len(rule.certain) == len(rule.lost) else f" ({_p(rule)})"
    return f"{_slice(rule)} that passed, none does any more{chance}"


def _within_chance(rule: RuleTest) -> str:
    """What the gate does not count, and how much it would count."""
    enough = "no number of cases" if rule.fewest is None else counted(rule.fewest, "case")
    if rule.kind == HARD:
        told = (
            f"{rule.left} newly violates hard constraints in {counted(len(rule.lost), 'case')} ({some(_places(rule))})"
        )
    else:
        told = f"{_slice(rule)} that passed, none does any more"
    return f"{told}, within chance of newly recorded answers; {enough} would be significant"


def _slice(rule: RuleTest) -> str:
    metric, _, slice_ = rule.what.partition(" of ")
    return f"{metric} of {rule.left} against {rule.right}: of the {len(rule.lost)} cases of {slice_}"


def _places(rule: RuleTest) -> list[str]:
    return [f"{', '.join(violated)} in {case}" for case, violated in rule.lost.items()]


def _leaks(material: Material) -> tuple[list[str], list[str]]:
    """Where a safety metric is 0, as where a canary reaches an output: new ones; and those that do not fail the gate,
    but nobody may forget them: those that were blessed and, where no baseline is asked for, those of the reference."""
    suite = material.suite
    is_alone = not material.wants_baseline and suite.candidate != suite.reference
    found = {name: leaks(material.trials, name, material.pack) for name in material.names}
    before = found.get(suite.reference, {}) if is_alone else {}
    new, known = list[str](), list[str]()
    leaked = ((name, case, each) for name, cases in found.items() for case, all_ in cases.items() for each in all_)
    for name, case, metric in leaked:
        if leaked_before(material.baseline, name, case, metric):
            known.append(f"known since the baseline: {_leak(name, case, metric, 'reaches')}")
        elif is_alone and name == suite.reference:
            known.append(_leak(name, case, metric))
        elif name == suite.candidate and metric in before.get(case, ()):
            known.append(f"{_leak(name, case, metric)}, as under {suite.reference}")
        else:
            new.append(_leak(name, case, metric))
    return new, known


def _leak(variant: str, case: str, metric: str, reached: str = "reached") -> str:
    if metric.rpartition(".")[2] == "canary":
        return f"the canary of {case} {reached} an output of {variant}"
    return f"{metric} is 0 in {case} under {variant}"


def redraws(material: Material, scorers: Sequence[ScorerInfo]) -> tuple[Redraw, ...]:
    """One entry per primary endpoint; none where every case was run once, or there is no reference to compare with.

    A draw is one sample of all the candidate's cases against one of all the reference's: with k samples k^2 draws,
    which share their samples and so are no k^2 independent ones.
    """
    suite = material.suite
    if suite.samples < 2 or not {suite.candidate, suite.reference} <= set(material.names):
        return ()
    primary = [scorer for scorer in scorers if scorer.primary]
    drawn = [item for trials in _draws(material) for item in _compared(replace(material, trials=trials), primary)]
    return tuple(
        Redraw(
            endpoint=scorer.name,
            draws=suite.samples**2,
            verdicts=Counter(item.verdict for item in drawn if item.endpoint == scorer.name),
        )
        for scorer in primary
    )


def _draws(material: Material) -> Iterator[tuple[Trial, ...]]:
    suite = material.suite
    for mine, theirs in product(range(suite.samples), repeat=2):
        wanted = {(suite.candidate, mine), (suite.reference, theirs)}
        yield tuple(trial for trial in material.trials if (trial.trace.variant, trial.trace.sample) in wanted)


def _compared(material: Material, primary: Sequence[ScorerInfo]) -> list[Comparison]:
    return [item for item in against_reference(material, primary) if item.left == material.suite.candidate]

"""What is compared with what: every variant with the reference of its suite, and with its own baseline."""

from collections.abc import Mapping, Sequence

from evals.judging.comparison import compare
from evals.judging.divergence import baseline_divergences, clause, divergences
from evals.judging.frozen import Cases, State, state_grades, unanswered_states
from evals.judging.material import Material
from evals.judging.pairing import Values, paired, together
from evals.judging.summary import case_means, open_cases
from evals.models.run import Baseline, Comparison, Divergence, ScorerInfo


def compared(
    material: Material, scorers: Sequence[ScorerInfo]
) -> tuple[tuple[Comparison, ...], tuple[Divergence, ...]]:
    """Every comparison of the run, and where each variant parts ways with the reference and with its own baseline.

    Routes explain what came of routes; a score of frozen states has nothing to do with the way a trial took.
    """
    suite = material.suite
    primary = [scorer for scorer in scorers if scorer.primary]
    routed = {scorer.name for scorer in scorers if not scorer.open_loop}
    parted = {
        name: divergences(material.trials, name, suite.reference) for name in material.names if name != suite.reference
    }
    baseline = material.baseline
    blessed = baseline.routes if baseline else {}
    since = {
        name: baseline_divergences(material.trials, name, blessed[name]) for name in material.names if name in blessed
    }
    told = [
        _explained(item, (since if item.against == "baseline" else parted).get(item.left))
        if item.endpoint in routed
        else item
        for item in (*against_reference(material, primary), *_against_baseline(material, primary))
    ]
    return tuple(told), tuple(one for found in (*parted.values(), *since.values()) for one in found)


def may_have_broken(material: Material, variant: str, scorers: Sequence[ScorerInfo]) -> bool:
    """Whether anything of the variant is lower than what it is held against: the reference, where it is the candidate,
    and its baseline. Where nothing is, no other case of the suite can make one of these count as broken.
    """
    suite, baseline = material.suite, material.baseline
    for endpoint in (scorer for scorer in scorers if scorer.primary):
        held = []
        if variant == suite.candidate and suite.reference in material.names:
            held.append(_values(material, suite.reference, endpoint))
        if baseline is not None and baseline.values.get(variant):
            held.append(_stored(material, baseline, variant, endpoint))
        now = _values(material, variant, endpoint)
        if any(pair.now < pair.was for was in held for pair in paired(now, was)):
            return True
    return False


def _explained(item: Comparison, parted: Sequence[Divergence] | None) -> Comparison:
    """The comparison with what its broken cases have in common; as it is where nobody knows the ways they took."""
    if parted is None or not item.broke:
        return item
    return item.model_copy(update={"divergence": clause(item.broke, parted)})


def against_reference(material: Material, primary: Sequence[ScorerInfo]) -> tuple[Comparison, ...]:
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
                    endpoint.name: (_values(material, name, endpoint), _values(material, reference, endpoint))
                    for endpoint in primary
                }
            },
            _clusters(material),
            "reference",
            material.suite.gate,
            {
                ((name, reference), endpoint.name): _unknown(material, (name, reference), endpoint)
                for endpoint in primary
            },
        )
    )


def _against_baseline(material: Material, primary: Sequence[ScorerInfo]) -> tuple[Comparison, ...]:
    """Every variant against what it did when the baseline was blessed; each is a family of its own."""
    baseline = material.baseline
    if baseline is None:
        return ()
    return tuple(
        item
        for name in material.names
        if baseline.values.get(name)  # a variant that was not recorded when it was blessed has nothing to lose
        for item in _since_blessed(material, baseline, name, primary)
    )


def _since_blessed(
    material: Material, baseline: Baseline, name: str, primary: Sequence[ScorerInfo]
) -> tuple[Comparison, ...]:
    pair = (name, f"{name} (baseline)")
    return compare(
        {
            pair: {
                endpoint.name: (_values(material, name, endpoint), _stored(material, baseline, name, endpoint))
                for endpoint in primary
            }
        },
        _clusters(material),
        "baseline",
        material.suite.gate,
        {(pair, endpoint.name): _unknown(material, (name,), endpoint) for endpoint in primary},
    )


def _values(material: Material, variant: str, endpoint: ScorerInfo) -> Values:
    """What is paired: case by case, or state by state."""
    if endpoint.macro:
        return state_grades(material.trials, _by_id(material), variant, endpoint.name)
    return case_means(material.trials, variant, endpoint.name)


def _stored(material: Material, baseline: Baseline, variant: str, endpoint: ScorerInfo) -> Values:
    """The same of the baseline. A state it knows by a name that is gone is left out: its labels have changed."""
    if not endpoint.macro:
        stored = baseline.values[variant].items()
        return {case: scores[endpoint.name] for case, scores in stored if endpoint.name in scores}
    cases = _by_id(material)
    grades = baseline.states.get(variant, {})
    return {
        State(case, point.id, point.gold): grades[case][point.id]
        for case in grades.keys() & cases.keys()
        for point in cases[case].points
        if point.id in grades[case]
    }


def _unknown(material: Material, variants: Sequence[str], endpoint: ScorerInfo) -> dict[State, float]:
    """Cases or states that any of the variants has no score for because the tape ran out, or not for every sample."""
    if endpoint.macro:
        cases = _by_id(material)
        return together(unanswered_states(material.trials, cases, name, endpoint.name) for name in variants)
    return together(open_cases(material.trials, name, endpoint.name) for name in variants)


def _by_id(material: Material) -> Cases:
    return {case.id: case for case in material.cases}


def _clusters(material: Material) -> Mapping[str, str]:
    return {case.id: case.cluster for case in material.cases}

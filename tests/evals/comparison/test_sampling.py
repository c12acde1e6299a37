"""What several samples of one case say together: all pass, or not; all alike, or not."""

from evals.comparison.metric_summaries import sample_agreements
from evals.models.metrics import RepeatAgreement, Scored
from tests.builders.run import a_trial
from tests.builders.trace import a_trace, an_answer

A, B = "investigator", "critic"

METRICS = ("route.pass", "root_cause.hit")


def some_trials(*passes: float, case_id: str = "local-bug", **trace):
    """One trial per sample, which passes on its route or not."""
    return [
        a_trial(a_trace(case_id=case_id, sample=n, **trace), {"route.pass": Scored(value=value)})
        for n, value in enumerate(passes)
    ]


def test_one_sample_says_nothing_about_others():
    assert sample_agreements(some_trials(1.0), ["v2"], 1, METRICS) == ()


def test_pass_hat_k_is_over_cases():
    """Two of three, and three of three: any two pass in 1/3 and in all pairs, any three in none and in all."""
    trials = [*some_trials(1.0, 0.0, 1.0), *some_trials(1.0, 1.0, 1.0, case_id="other")]

    [found] = sample_agreements(trials, ["v2"], 3, METRICS)

    assert [round(value, 4) for value in found.pass_hat[0].values] == [0.8333, 0.6667, 0.5]
    assert found.pass_hat[0].cases == 2


def test_a_case_with_a_sample_off_the_tape_is_left_out():
    """A missing sample is neither passed nor failed."""
    [found] = sample_agreements([*some_trials(1.0), *some_trials(1.0, 0.0, case_id="other")], ["v2"], 2, METRICS)

    assert (found.pass_hat[0].cases, found.pass_hat[0].values) == (1, (0.5, 0.0))


def test_samples_agree_on_a_decision_when_all_choose_the_same():
    chosen = [("p", A, A), ("q", A, B), ("r", A, None)]
    trials = [a_trial(a_trace(sample=n, points=[an_answer(name, both[n]) for name, *both in chosen])) for n in range(2)]

    assert sample_agreements(trials, ["v2"], 2, METRICS)[0].decisions == RepeatAgreement(agreed=1, of=2)


def test_samples_agree_on_a_case_when_all_take_one_route():
    second = {"a": (B, B), "b": (B, A)}
    trials = [a_trial(a_trace(A, both[n], sample=n, case_id=case)) for case, both in second.items() for n in range(2)]

    assert sample_agreements(trials, ["v2"], 2, METRICS)[0].routes == RepeatAgreement(agreed=1, of=2)


def test_a_route_that_left_the_tape_is_no_route_to_agree_on():
    trials = [a_trial(a_trace(A, sample=0)), a_trial(a_trace(A, sample=1, provenance="frontier", frontier=1))]

    assert sample_agreements(trials, ["v2"], 2, METRICS)[0].routes == RepeatAgreement(agreed=0, of=0)

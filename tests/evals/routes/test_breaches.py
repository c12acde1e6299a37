"""Which rules routes break."""

from evals.models.case import RouteReading
from evals.models.run import Trial
from evals.routes.route_check import breaches
from tests.builders.case import a_spec, an_alternative
from tests.builders.run import a_case_info, a_trial
from tests.builders.trace import a_trace

CASES = {name: a_case_info(name, route_spec=a_spec()) for name in ("a", "b")}


def broken(case_id: str, *rules: str, alone: tuple[str, ...] = ()) -> Trial:
    """A trial that breaks these rules."""
    reading = RouteReading(alternative=0, shares=(), breaks=rules, decides=alone)
    return a_trial(a_trace(case_id=case_id), reading=reading)


def test_trials_are_counted_by_rule_and_by_who_answered():
    (found,) = breaches([("v1", broken("a", "P2b")), ("v2", broken("a", "P2b")), ("v2", broken("b", "P2b"))], CASES)

    assert (found.broken_by("v1"), found.broken_by("v2")) == (("a",), ("a", "b"))


def test_a_rule_comes_with_its_weight():
    (found,) = breaches([("v1", broken("a", "P2b"))], CASES)

    assert (found.rule.hard, found.rule.weight) == (False, 2)


def test_the_rule_that_decides_most_alone_comes_first():
    trials = [("v1", broken("a", "P2b", "P3")), ("v1", broken("b", "P2b")), ("v2", broken("a", "P4", alone=("P4",)))]

    assert [found.rule.id for found in breaches(trials, CASES)] == ["P4", "P2b", "P3"]


def test_what_is_asked_is_left_out_where_it_differs_by_case():
    cases = {**CASES, "b": a_case_info("b", route_spec=a_spec(an_alternative(max_steps=7)))}
    trials = [("v1", broken(name, "steps.max")) for name in "ab"]

    assert [found.rule.asks for found in breaches(trials, cases)] == [""]


def test_a_trial_that_was_not_read_breaks_nothing():
    assert breaches([("v1", a_trial(a_trace(case_id="a")))], CASES) == ()


def test_of_a_run_without_specifications_nothing_is_said():
    assert breaches([("v1", broken("a", "P2b"))], {"a": a_case_info("a")}) == ()

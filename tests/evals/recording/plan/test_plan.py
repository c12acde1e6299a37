"""A plan: one entry per cause, every request once, and an effort that is never made up."""

from datetime import date

from evals.models.suite import Models
from evals.prices import ModelPrice, PriceTable
from evals.recording.miss_causes import MissCause
from evals.recording.plan_recording import Missed, by_cause, effort_of, missing_variants
from evals.recording.recording_cost import experience_of
from tests.builders.interaction import a_cassette
from tests.builders.missed import a_recorded, a_request, evidence
from tests.builders.trace import a_trace, an_answer

MODELS = {"v2": Models(default="small", fallback="small")}
PRICES = PriceTable(
    as_of=date(2026, 1, 31), models={"small": ModelPrice(usd_per_million_input=1_000_000, usd_per_million_output=0)}
)


def a_missed(case="one", variant="v2", group="a"):
    found = evidence(a_request(), trace=a_trace(case_id=case, variant=variant))
    return Missed(found, MissCause(kind="prompt edited", text=f"{group}:1", where=(f"{group}:1",), group=group))


def test_one_cause_is_one_entry_however_many_requests_it_is_behind():
    [found] = by_cause([a_missed(case, variant) for case in ("one", "two") for variant in ("v2", "v3")])

    assert (found.requests, found.variants, found.cases, found.agents) == (
        2,
        ("v2", "v3"),
        ("one", "two"),
        {"supervisor": 2},
    )


def test_the_cause_behind_most_requests_comes_first():
    found = by_cause([a_missed(group="b"), a_missed(group="a"), a_missed("two", group="a")])

    assert [(cause.text, cause.requests) for cause in found] == [("a:1", 2), ("b:1", 1)]


def test_a_variant_whose_decision_points_alone_are_unanswered_lacks_something():
    traces = [a_trace(points=(an_answer(chosen=None), an_answer("p2"))), a_trace(variant="v3")]

    [found] = missing_variants(["v2", "v3"], traces)

    assert (found.variant, found.trials, found.off_tape, found.points) == ("v2", 1, 0, 1)


def missing_trace():
    found = evidence(a_request())
    return a_trace(provenance="unrecorded", misses=(found.miss,))


def test_a_model_without_a_price_makes_the_price_unknown_not_zero():
    table = PriceTable(as_of=date(2026, 1, 31), models={})

    found = effort_of(MODELS, [missing_trace()], experience_of([a_cassette(a_recorded())]), table)

    assert (found.usd, found.unpriced) == (None, ("small",))


def test_tokens_are_priced_by_the_table_and_its_date_is_told():
    found = effort_of(MODELS, [missing_trace()], experience_of([a_cassette(a_recorded())]), PRICES)

    assert (found.requests, found.input_tokens, found.usd, found.prices_as_of) == (1, 11, 11.0, date(2026, 1, 31))

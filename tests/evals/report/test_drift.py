"""A sitting in words: what moved, which cases, what it takes."""

from datetime import date

from evals.models.analysis_results import (
    AnswerSource,
    Drift,
    DriftPrice,
    DriftVerdict,
    FieldDrift,
    Needed,
    Passage,
    Range,
    StratumDrawn,
    Turned,
)
from evals.report.view import drift_page as view


def a_price(usd=1.5, unpriced=()):
    return DriftPrice(
        requests=2, answers=3, input_tokens=4000, output_tokens=50, usd=usd, unpriced=unpriced,
        prices_as_of=date(2026, 11, 1),
    )  # fmt: skip


def a_field(agent="supervisor", field="decision", **more):
    told = {"equal": Range(value=0.8, low=0.7, high=0.9), "noise": Range(value=0.95, low=0.9, high=1.0)}
    moved = {"change": Range(value=0.15, low=0.05, high=0.25), "p": 0.01, "p_adjusted": 0.01}
    return FieldDrift(
        **{"agent": agent, "field": field, "requests": 40, "level": 0.025, "primary": True, **told, **moved, **more}
    )


def a_turned(*steps, known=False):
    passages = tuple(Passage(case="one", variant=f"v{n}", step=step) for n, step in enumerate(steps))
    return Turned(key="k", recorded="critic", fresh=("writer", "writer"), known=known, passages=passages)


def a_drift(**more):
    told = AnswerSource(first="2026-11-22T10:00:00+00:00", last="2026-11-23T10:00:00+00:00", models={"m": 3})
    fields = {
        "suite": "tiny", "seed": 0, "precision": 0.15, "alpha": 0.05, "prose": 1, "cases": 2,
        "strata": (StratumDrawn(agent="supervisor", variant="v1", recorded=1200, drawn=40),),
        "recorded": told, "fresh": told, "fields": (a_field(),), "turned": (),
        "needed": Needed(decisions=47, sample=60, floor=0.05), "asked": a_price(), "recording": a_price(),
        "verdict": DriftVerdict(status="drifted", exit_code=1, sentence="drifted"),
    }  # fmt: skip
    return Drift(**{**fields, **more})


def test_a_field_says_what_is_equal_what_repeats_are_and_by_how_much_it_moved():
    assert view.field_table(a_drift()).rows == (
        ("supervisor", "decision", "40", "80 % [70 %, 90 %]", "95 % [90 %, 100 %]", "+15 [+5, +25]", "0.010", "moved"),
    )


def test_confidence_moves_in_its_own_unit_and_is_equal_to_nothing():
    shift = Range(value=-0.04, low=-0.06, high=-0.02)
    found = view.field_table(a_drift(fields=(a_field(field="confidence", equal=None, noise=None, change=shift),)))

    assert found.rows[0][3:6] == ("", "", "\N{MINUS SIGN}0.04 [\N{MINUS SIGN}0.06, \N{MINUS SIGN}0.02]")


def test_a_case_that_would_go_another_way_is_named_with_its_decision():
    found = view.turned_table(a_drift(turned=(a_turned(3, 2, known=True), a_turned(0))))

    assert found.rows == (
        ("one", "v0, decision 3 (and in 1 trial more)", "critic", "writer", "recorded as another repeat"),
    )
    assert found.caption == "1 case would go another way, as far as was asked"


def test_the_price_is_money_or_the_model_that_has_none():
    assert view.cost(a_price()).endswith("; 1.50 USD by the price table of 2026-11-01")
    assert view.cost(a_price(None, ("m",))).endswith("; price unknown (m not in the price table; --prices FILE)")

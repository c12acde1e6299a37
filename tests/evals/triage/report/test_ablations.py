"""The table of what each guard is good for."""

from evals.models.metrics import Scored
from evals.models.run import Run
from evals.report.numbers import MINUS
from evals.triage.report.triage_sections import ablation_table
from tests.builders.run import a_case_info, a_comparison, a_run, a_trial, a_variant_info
from tests.builders.trace import a_decision, a_trace, an_override

LEFT, RIGHT = "hardened-without-critic_gate", "hardened"


def an_ablation(**comparison) -> Run:
    """The whole set overrules one decision of two and goes another way than the set without the guard; a second case
    is scored under the latter only."""
    variants = []
    for guards in (RIGHT, LEFT):
        info = a_variant_info(guards)
        variants.append(info.model_copy(update={"variant": info.variant.model_copy(update={"guards": guards})}))
    veto = an_override("critic_gate", "writer", "critic")
    told = {
        RIGHT: [a_decision(0, "writer", "critic", overrides=[veto]), a_decision(1, "writer")],
        LEFT: [a_decision(0, "writer")],
    }
    visits = {RIGHT: Scored(value=3.0), LEFT: Scored(value=2.0)}
    trials = [
        a_trial(a_trace(*[d.routed for d in told[n]], variant=n, decisions=told[n]), {"cost.visits": visits[n]})
        for n in (RIGHT, LEFT)
    ]
    dear = a_trace(variant=LEFT, case_id="only-without", decisions=())
    trials.append(a_trial(dear, {"cost.visits": Scored(value=90.0)}))
    item = a_comparison(left=LEFT, right=RIGHT, against="whole set", **comparison)
    cases = [a_case_info(), a_case_info("only-without")]
    return a_run(*trials, cases=cases, variants=variants, ablations=(item,))


def test_a_row_says_how_often_the_guard_spoke_and_what_became_of_it():
    table = ablation_table(an_ablation(delta=-0.25, low=-0.6, high=0.0, broke=("a", "b"), n=8, p_holm=0.25))

    assert table.head == (
        *("left out", "its overrides where it stands", "cases that go another way"),
        *("route.pass", "steps", "LLM calls"),
    )
    assert table.rows == (
        (
            *("critic_gate", "1 of 2 decisions", "1 of 1"),
            f"{MINUS}25 [{MINUS}60, 0]; 0 better, 2 worse; p 0.250; n=8",
            *(f"{MINUS}1.0 n=1/2", "n/a"),
        ),
    )


def test_what_is_off_the_tape_bounds_the_difference():
    table = ablation_table(an_ablation(delta=-0.25, pessimistic=-0.6, optimistic=0.2, n=4, of=8))

    assert table.rows[0][3].startswith(f"{MINUS}25 ({MINUS}60 to +20 with the rest)")
    assert table.rows[0][3].endswith("n=4/8")


def test_no_case_scored_under_both_is_no_number():
    table = ablation_table(an_ablation(delta=None, low=None, high=None, n=0))

    assert table.rows[0][3] == "cannot judge: no case is scored under both"

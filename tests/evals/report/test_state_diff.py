"""What a supervisor knew at a decision, and where two of them knew different things."""

from evals.models.trace import Finding, Visit
from evals.report.view.divergence_view import StateDiff, state_diff, state_fields
from evals.report.view.page_parts import Texts
from tests.builders.trace import a_decision, a_trace, an_exchange


def a_visit(node: str, superstep: int, summary: str = "", error: str | None = None) -> Visit:
    """A visit with one finding, or one that failed."""
    found = Finding.model_validate({"agent_name": node, "summary": summary, "confidence": 0.6, "details": ""})
    return Visit.model_validate(
        {"node": node, "superstep": superstep, "findings": () if error else (found,), "error": error}
    )


def names(diff: StateDiff) -> tuple[list[str], list[str]]:
    """The fields that differ, and those that are alike."""
    return [field.name for field in diff.differ], [field.name for field in diff.alike]


def test_a_state_is_what_was_there_before_the_decision():
    visits = (a_visit("investigator", 0, "An index is off."), a_visit("critic", 1, "Agreed."))
    trace = a_trace(visits=visits, decisions=[a_decision(0, "investigator"), a_decision(1, "critic")])

    assert state_fields(trace, 1) == {
        "steps so far": "investigator",
        "confidence stated last": "70 %",
        "finding 1 (investigator)": "An index is off.\nconfidence 60 %",
    }


def test_only_questions_asked_before_count():
    asked = [a_decision(n, "human_input") for n in range(2)]
    exchanges = [an_exchange("Which version?", "3.11"), an_exchange("Which system?", "Linux")]
    trace = a_trace("human_input", "human_input", decisions=asked, exchanges=exchanges)

    assert state_fields(trace, 1)["question 1"] == "Which version?\n3.11"
    assert "question 2" not in state_fields(trace, 1)


def test_fields_that_differ_are_told_from_those_that_do_not():
    was, now = (
        a_trace(
            visits=(a_visit("investigator", 0, summary),),
            decisions=[a_decision(0, "investigator"), a_decision(1, "writer")],
        )
        for summary in ("The index.", "The cache.")
    )

    assert names(state_diff(was, now, 1, Texts())) == (
        ["finding 1 (investigator)"],
        ["steps so far", "confidence stated last"],
    )


def test_what_only_one_of_them_knew_differs():
    was = a_trace(visits=(a_visit("investigator", 0, "The index."),), decisions=[a_decision(0, "investigator")])
    now = a_trace(visits=(a_visit("investigator", 0, error="broke"),), decisions=[a_decision(0, "investigator")])
    differ, _ = names(state_diff(was, now, 1, Texts()))

    assert differ == ["finding 1 (investigator)", "step 1 (investigator) failed"]

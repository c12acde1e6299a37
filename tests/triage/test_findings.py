import pytest
from pydantic import ValidationError

from tests.builders.state import a_finding, an_exchange
from triage.findings import Answer, answers_text, findings_text, to_finding


def an_answer(**fields):
    return Answer(**{"reasoning": "r", "summary": "s", "confidence": 0.5, **fields})


@pytest.mark.parametrize("written", [None, "", "  ", "null", "None"])
def test_an_error_that_says_nothing_is_no_error(written):
    assert an_answer(error=written).error is None


@pytest.mark.parametrize("confidence", [-0.1, 1.1, 85, float("nan")])
def test_a_confidence_outside_of_0_to_1_is_refused(confidence):
    with pytest.raises(ValidationError):
        an_answer(confidence=confidence)


def test_a_finding_is_named_by_the_code_and_not_by_the_model():
    finding = to_finding("critic", an_answer(), "details", ["a.py"])

    assert finding.agent_name == "critic"
    assert (finding.summary, finding.confidence, finding.details) == ("s", 0.5, "details")
    assert finding.relevant_files == ("a.py",)


def test_findings_are_numbered_with_a_blank_line_between():
    text = findings_text([a_finding(), a_finding("critic", relevant_files=())])

    assert text == (
        "[1] investigator (confidence: 75%)\n"
        "Summary: Quantities are lost\n"
        "Details: The cart keeps one line per product.\n"
        "Relevant files: shop/cart.py\n"
        "\n"
        "[2] critic (confidence: 75%)\n"
        "Summary: Quantities are lost\n"
        "Details: The cart keeps one line per product.\n"
        "Relevant files: none"
    )


def test_a_question_still_open_is_not_shown_as_answered():
    assert answers_text([an_exchange(answer=None)]) == "None."
    assert answers_text([an_exchange("MySQL")]) == "Q: Which database?\nA: MySQL"

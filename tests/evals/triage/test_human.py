"""The simulated user: answers what the script knows, and says so where it knows nothing."""

import pytest

from evals.models.case import Question, ScriptedAnswer
from evals.triage.variant_graph import answer_to

SCRIPT = Question(
    policy="required",
    answers=(
        ScriptedAnswer(topic="version", keywords=("version", "release"), answer="2.1"),
        ScriptedAnswer(topic="region", keywords=("region", "country"), answer="Norway"),
    ),
)
ASKED = {
    "Which VERSION is it?": ("2.1", "version"),
    "Which region or country, and which version?": ("Norway", "region"),
    "version or region?": ("2.1", "version"),
    "Which versions have you tried?": ("2.1", "version"),
    "Is it a conversion of prereleases?": ("I don't know, sorry.", None),
    "What did you have for lunch?": ("I don't know, sorry.", None),
}


@pytest.mark.parametrize(("question", "answer"), ASKED.items())
def test_the_answer_whose_keywords_are_touched_most_is_given(question, answer):
    """Ties go to the earlier one; a keyword counts from the start of a word."""
    assert answer_to(question, SCRIPT) == answer


@pytest.mark.parametrize(
    ("question", "given", "answer"),
    [
        ("Which version?", {"version"}, ("I don't know, sorry.", None)),
        ("Which version, and which region?", {"version"}, ("Norway", "region")),
        ("Which version?", {"region", None}, ("2.1", "version")),
        ("Which version, which region?", {"version", "region"}, ("I don't know, sorry.", None)),
    ],
)
def test_an_answer_that_was_given_is_not_given_again(question, given, answer):
    assert answer_to(question, SCRIPT, given) == answer

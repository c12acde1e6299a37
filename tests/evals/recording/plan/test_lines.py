"""From a difference back to the line it is written in."""

import pytest

from evals.models.trace import Difference
from evals.recording.miss_causes import is_written, places_of, ranges

FILE = (
    "---",
    "version: v9",
    "---",
    "You lead a team.",
    "- Call the critic once.",
    "",
    "At most {max_questions} questions.",
    "<!-- human -->",
    "Title: {issue_title}",
    "",
    "{issue_body}",
    "## Findings",
)


def a_difference(asked="", recorded="", after="", before=""):
    return Difference(path="messages[0].content", line=1, recorded=recorded, asked=asked, after=after, before=before)


def test_a_line_is_found_with_its_placeholder_filled_in():
    assert places_of(a_difference("At most 3 questions."), FILE) == (7,)


def test_a_line_some_recorded_line_is_written_in_too_is_no_news():
    asked = a_difference("Title: Another title\n## Findings")

    assert places_of(asked, FILE, recorded=["Title: The title"]) == (12,)


def test_lines_that_were_taken_out_are_placed_where_the_next_now_is():
    assert places_of(
        a_difference(recorded="gone", after="You lead a team.", before="- Call the critic once."), FILE
    ) == (5,)


def test_a_gap_between_two_empty_lines_could_be_anywhere():
    assert places_of(a_difference(recorded="gone"), FILE) == ()


WRITTEN = {
    "the same": ("a b", "a b", True),
    "blanks at the end": ("a b", "a b  ", True),
    "another": ("a b", "a c", False),
    "doubled braces": ('{"a": 1}', '{{"a": 1}}', True),
    "nothing but a placeholder": ("anything", "{body}", False),
    "two placeholders": ("by Ann for Bo", "by {a} for {b}", True),
}


@pytest.mark.parametrize(("text", "line", "holds"), WRITTEN.values(), ids=WRITTEN.keys())
def test_a_line_is_recognised_as_it_reaches_a_request(text, line, holds):
    assert is_written(text, line) is holds


@pytest.mark.parametrize(("numbers", "text"), [((3,), "3"), ((3, 4, 5), "3-5"), ((1, 3, 4, 9), "1, 3-4, 9"), ((), "")])
def test_line_numbers_are_written_as_ranges(numbers, text):
    assert ranges(numbers) == text

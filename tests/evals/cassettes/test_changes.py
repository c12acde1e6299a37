"""What differs between two states of a cassette."""

import pytest

from evals.cassettes.cassette_changes import changes, described, same_answer
from tests.builders.interaction import a_cassette, a_chat_answer, an_interaction

ONE = an_interaction("one")
CASES = {
    "came": ((ONE,), (ONE, an_interaction("two"))),
    "went": ((ONE, an_interaction("two")), (ONE,)),
    "answered anew": ((ONE,), (an_interaction("one", answer="no, line 8"),)),
    "recorded again": ((ONE,), (an_interaction("one", recorded_at="2027-01-01T00:00:00+00:00"),)),
}


@pytest.mark.parametrize("kind", CASES)
def test_every_kind_of_change_has_its_name(kind):
    before, after = CASES[kind]

    assert [change.kind for change in changes(a_cassette(*before), a_cassette(*after))] == [kind]


def test_a_new_number_and_time_are_no_new_answer():
    later = an_interaction("one", response={**ONE.response, "id": "chatcmpl-2", "created": 99})

    assert same_answer(ONE, later)


def test_another_model_under_the_same_words_is_a_new_answer():
    words = ONE.response["choices"][0]["message"]["content"]

    assert not same_answer(ONE, an_interaction("one", response=a_chat_answer(words, model="large")))


def test_a_new_answer_is_shown_as_a_diff():
    new = an_interaction("one", answer="It is line 8.")

    lines = [line for change in changes(a_cassette(ONE), a_cassette(new)) for line in described(change)]

    assert "-  About 'one': line 7." in lines
    assert "+  It is line 8." in lines


def test_what_came_is_shown_whole():
    (change,) = changes(a_cassette(ONE), a_cassette(ONE, an_interaction("two")))

    assert "+   two" in list(described(change))

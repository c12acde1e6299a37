"""Frequent words are said in letters, and come out as they went in."""

from hypothesis import given
from hypothesis import strategies as st

from evals.report.text_table import said


def spelled(texts):
    """The texts as `unpack.js` puts them together."""
    words = dict(zip(texts.letters, texts.words, strict=True))
    return ["".join(words.get(letter, letter) for letter in text) for text in texts.texts]


@given(st.lists(st.text(alphabet="ab¡¢一é _<&\n", max_size=12), max_size=12).map(lambda texts: texts * 3))
def test_texts_come_out_as_they_went_in(texts):
    assert spelled(said(texts)) == texts


def test_a_word_that_recurs_is_said_in_one_letter_with_the_blank_before_it():
    assert said(["the critic", "a critic", "no critic"]) == (["the¡", "a¡", "no¡"], "¡", [" critic"])


def test_a_letter_that_stands_for_itself_stands_for_no_word():
    found = said(["¡ critic", "¡ critic", "¡ critic"])

    assert (found.texts, found.letters) == (["¡¢"] * 3, "¢")


def test_what_is_said_twice_is_spelled_out():
    assert said(["the critic", "the critic"]).letters == ""

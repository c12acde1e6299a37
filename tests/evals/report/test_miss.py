"""A miss up close."""

from evals.models.trace import Difference, Miss, Nearest
from evals.report.view.page_parts import Texts
from evals.report.view.trial_view import PLACES_SHOWN, miss_view, word_diff


def a_missed(*differences, near=True):
    nearest = Nearest(key="r" * 64, alike=0.987, prompt_alike=1.0, differences=differences) if near else None
    return Miss(key="k" * 64, agent="critic", method="POST", path="/v1", model="m", decision=2, nearest=nearest)


def a_difference(recorded="the old way", asked="the new way", **more):
    return Difference(path="messages[0].content", line=4, recorded=recorded, asked=asked, **more)


def text_of(view, texts):
    """The differences, line by line."""
    return texts.all()[int(view.differs)].split("\n")


def test_a_miss_shows_word_by_word_where_it_differs():
    texts = Texts()

    view = miss_view(a_missed(a_difference()), texts)

    assert text_of(view, texts) == ["messages[0].content, line 4", "the [-old-]{+new+} way"]
    assert "rrrrrrrrrrrr, the nearest recorded request (99 % of words shared)" in view.nearest


def test_text_that_changes_by_itself_is_marked():
    texts = Texts()

    view = miss_view(a_missed(a_difference(volatile=("date or time",))), texts)

    assert text_of(view, texts)[0] == "messages[0].content, line 4 (date or time: changes by itself)"


def test_many_places_are_counted_rather_than_shown():
    texts = Texts()

    view = miss_view(a_missed(*[a_difference()] * (PLACES_SHOWN + 3)), texts)

    assert text_of(view, texts)[-1] == "and 3 more places"


def test_where_nothing_is_recorded_the_miss_says_so():
    view = miss_view(a_missed(near=False), Texts())

    assert (view.nearest, view.differs) == (
        "no request of critic is recorded for this case, so there is none to compare",
        "",
    )


def test_texts_that_share_little_stand_one_below_the_other():
    assert word_diff("one two three", "alpha beta gamma") == "[-one two three-]\n{+alpha beta gamma+}"

"""What a report shows on demand comes out as it went in."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from evals.report.html_page import SharedTexts, handing_to
from evals.report.view.page_parts import Number
from evals.shared.display_text import visible
from tests.builders.unpacked import content_of, parts_of

TEMPLATE = """
{%- macro one(item) %}<p class="who" aria-label="a, b">{{ item }}</p>{% endmacro %}
{%- macro text(number) %}<pre data-text="{{ number }}"></pre>{% endmacro %}
{%- macro row(items) %}<div>{% for item in items %}{{ one(item) }}{% endfor %}</div>{% endmacro %}
{%- macro all(rows, numbers) %}
{%- for items in rows %}{{ row(items) }}{% endfor %}
{%- for number in numbers %}{{ text(number) }}{% endfor %}
{%- endmacro %}
"""


def packed(parts: Mapping[str, tuple[list[list[str]], list[int]]], *texts: str) -> dict:
    """What a pack of these parts holds; a part is rows of words, and the numbers of texts."""
    pack = SharedTexts(texts)
    draw = handing_to(pack).from_string(TEMPLATE).module.all
    for name, (rows, numbers) in parts.items():
        draw(rows, [Number(number) for number in numbers])
        pack.close(name)
    return content_of(f'<script type="text/plain" id="packed">{pack.packed({})}</script>')


def through(parts: Mapping[str, tuple[list[list[str]], list[int]]], *texts: str) -> list[tuple[str, str, list[str]]]:
    """Packed and unpacked again."""
    return parts_of(packed(parts, *texts))


def printed(rows: list[list[str]], numbers: list[int]) -> str:
    """The markup that the template would have made of it by itself."""
    each = (
        "".join(f'<p class="who" aria-label="a, b">{escape(visible(item))}</p>' for item in items) for items in rows
    )
    return "".join(f"<div>{items}</div>" for items in each) + "".join(
        f'<pre data-text="{number}"></pre>' for number in numbers
    )


WORDS = st.sampled_from(["<b>", "</b>", "one", "two", "", "&lt;", "\n", "0", "\1", "a\1b", "\u202e"])


@given(st.lists(st.lists(st.lists(WORDS, max_size=4), max_size=4), min_size=1, max_size=4))
def test_parts_come_out_as_they_went_in(parts: list[list[list[str]]]):
    named = {str(number): rows for number, rows in enumerate(parts)}

    assert [(name, markup) for name, markup, _ in through({name: (rows, []) for name, rows in named.items()})] == [
        (name, printed(rows, [])) for name, rows in named.items()
    ]


@given(st.lists(st.lists(st.sampled_from(["", *"abcde"]), max_size=8).map("\n".join), min_size=1, max_size=6))
def test_texts_come_out_as_they_went_in(texts: list[str]):
    numbers = [*range(len(texts))]

    assert through({"first": ([], numbers), "again": ([], numbers)}, *texts) == [
        (name, printed([], numbers), texts) for name in ("first", "again")
    ]


def test_what_is_said_twice_is_kept_once():
    content = packed({"one": ([["critic"]], [0]), "two": ([["critic"]], [1])}, "critic\nwriter", "writer\ncritic")

    assert content["pieces"].count("critic") == content["pieces"].count("writer") == 1


def test_unseen_characters_of_a_text_are_spelled_out():
    ((_, _, texts),) = through({"one": ([], [0])}, "a\x1b[31m\r\nb\u202e")

    assert texts == ["a␛[31m\nb⟨U+202E⟩"]


@pytest.mark.parametrize("text", ["</script><b>", "&amp;", "-->"])
def test_nothing_packed_reads_as_markup(text: str):
    pack = SharedTexts([text])
    handing_to(pack).from_string(TEMPLATE).module.all([[text]], [Number(0)])
    pack.close("one")

    assert not set("<>&\"'") & set(pack.packed({"more": text}))

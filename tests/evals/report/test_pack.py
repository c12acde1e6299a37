"""What a report shows on demand comes out as it went in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.report.pack import Pack, pieces
from tests.builders.unpacked import content_of, parts_of

MARKUP = '<p class="who" aria-label="a, b">critic</p><pre data-text="0"></pre><p>critic</p>'


def through(parts: dict[str, str], *texts: str) -> list[tuple[str, str, list[str]]]:
    """Packed and unpacked again."""
    pack = Pack(texts)
    for name, markup in parts.items():
        pack.add(name, markup)
    return parts_of(content_of(f'<script type="text/plain" id="packed">{pack.packed({})}</script>'))


@given(st.text(alphabet='<>ab"=\n &;'))
def test_the_pieces_of_a_part_make_up_the_part(markup: str):
    assert "".join(piece for piece, _ in pieces(markup)) == markup


@given(st.lists(st.sampled_from(["<b>", "</b>", "one", "two", "", "&lt;", "\n"]), max_size=12), st.data())
def test_parts_come_out_as_they_went_in(words: list[str], data: st.DataObject):
    cuts = data.draw(st.lists(st.integers(0, len(words)), min_size=1, max_size=4))
    parts = {str(number): "".join(words[cut:]) for number, cut in enumerate(cuts)}

    assert [(name, markup) for name, markup, _ in through(parts)] == list(parts.items())


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=8).map("\n".join), min_size=1, max_size=6))
def test_texts_come_out_as_they_went_in(texts: list[str]):
    markup = "".join(f'<pre data-text="{number}"></pre>' for number in range(len(texts)))

    assert through({"first": markup, "again": markup}, *texts) == [(name, markup, texts) for name in ("first", "again")]


def test_a_part_numbers_its_own_texts():
    """Another part of the page may show other texts before."""
    ((_, markup, texts),) = through({"one": '<pre data-text="7"></pre><pre data-text="3"></pre>'}, *"abcdefgh")

    assert (markup, texts) == ('<pre data-text="0"></pre><pre data-text="1"></pre>', ["h", "d"])


def test_what_is_said_twice_is_kept_once():
    pack = Pack(["critic\nwriter", "writer\ncritic"])
    pack.add("one", MARKUP)
    pack.add("two", MARKUP.replace('"0"', '"1"'))
    content = content_of(f'<script type="text/plain" id="packed">{pack.packed({})}</script>')

    assert content["pieces"].count("critic") == content["pieces"].count("writer") == 1


def test_unseen_characters_of_a_text_are_spelled_out():
    ((_, _, texts),) = through({"one": MARKUP}, "a\x1b[31m\r\nb\u202e")

    assert texts == ["a␛[31m\nb⟨U+202E⟩"]


@pytest.mark.parametrize("text", ["</script><b>", "&amp;", "-->"])
def test_nothing_packed_reads_as_markup(text: str):
    pack = Pack([text])
    pack.add("one", MARKUP)

    assert not set("<>&\"'") & set(pack.packed({"more": text}))


def test_the_same_parts_give_the_same_bytes():
    def packed() -> str:
        pack = Pack(["a\nb"])
        pack.add("one", MARKUP)
        return pack.packed({"scorers": ["route.pass"]})

    assert packed() == packed()

"""Hunks between two versions of a prompt, and the prompts with some of them put in or taken out."""

from itertools import product
from random import Random
from time import perf_counter

import pytest

from evals.errors import ConfigurationError
from evals.prompt_hunks import HunkSpec, parts_between
from evals.prompt_versions import named_prompts
from tests.builders.dataset import write
from triage.prompts.load import HERE

OLD = """---
version: v1
---
Lead the team. Be kind.

## Rules
- Ask for facts.
- Never guess
  a number.

Close politely.
"""
NEW = """---
version: v2
---
Lead the team. Be quick.

## Rules
- Ask for facts and dates.
- Never guess
  a number.

Close politely and thank them.

Sign with a name.
"""


def changed(old, new):
    """Number, old and new text of every hunk."""
    return [(part.hunk, part.old.strip(), part.new.strip()) for part in parts_between(old, new) if part.hunk]


def test_hunks_are_whole_paragraphs_and_list_items_of_the_body():
    assert changed(OLD, NEW) == [
        (1, "Lead the team. Be kind.", "Lead the team. Be quick."),
        (2, "- Ask for facts.", "- Ask for facts and dates."),
        (3, "Close politely.", "Close politely and thank them."),
        (4, "", "Sign with a name."),
    ]


@pytest.mark.parametrize(
    ("spec", "has", "lacks"),
    [
        ("v1 to v2 +2", ["version: v1", "Be kind", "facts and dates"], ["Sign"]),
        ("v1 to v2 -2", ["version: v2", "Be quick", "facts.\n", "Sign"], ["dates"]),
        ("v1 to v2 +1+4", ["version: v1", "Be quick", "Sign"], ["dates", "thank"]),
    ],
)
def test_a_hunk_is_put_into_the_old_version_or_taken_out_of_the_new_one(spec, has, lacks):
    text = HunkSpec.parse(spec).text(OLD, NEW)

    assert [words for words in has if words not in text] == []
    assert [words for words in lacks if words in text] == []


def test_all_hunks_put_in_are_the_body_of_the_new_version():
    text = HunkSpec("v1", "v2", (1, 2, 3, 4), "+").text(OLD, NEW)

    assert text == NEW.replace("version: v2", "version: v1")


def test_hunks_that_move_a_placeholder_are_one_hunk():
    old = "Read {ticket} first.\n\nRules stay.\n\nBe short.\n"
    new = "Read it first.\n\nRules stay.\n\nBe short about {ticket}.\n"

    assert [number for number, *_ in changed(old, new)] == [1, 1]


def test_a_rewritten_prompt_is_cut_where_paragraphs_are_versions_of_each_other():
    old, new = ((HERE / "supervisor" / f"{name}.md").read_text(encoding="utf-8") for name in ("v3", "v5"))

    firsts = [(old.splitlines()[:1], new.splitlines()[0][:30]) for _, old, new in changed(old, new)]

    assert [one[0][:20] if one else "" for one, _ in firsts] == [
        "You lead a team that",
        "## Team and rules",
        "## After the critic",
        "",
        "- reasoning: which r",
    ]
    assert [other[:14] for _, other in firsts] == [
        "You lead a tea",
        "- investigator",
        "APPROVED: writ",
        "Choose end onl",
        "- reasoning: w",
    ]


def test_paragraphs_without_a_common_word_are_versions_of_each_other_in_their_order():
    assert changed("Do it.\n\nBe calm.\n\nBe brief.\n", "Do it.\n\nBe loud.\n\nBe kind.\n") == [
        (1, "Be calm.", "Be loud."),
        (2, "Be brief.", "Be kind."),
    ]


def test_a_prompt_of_sixty_rewritten_paragraphs_is_divided_within_seconds():
    """Measured: 1 s; what tries each pair of stretches of paragraphs takes 80 s."""
    words = ["".join(letters) for letters in product("abcdef", repeat=4)]
    drawn = Random(1)  # noqa: S311 - no secret
    old, new = ("\n\n".join(" ".join(drawn.choices(words, k=40)) for _ in range(60)) for _ in range(2))
    start = perf_counter()
    parts = parts_between(old, new)

    assert perf_counter() - start < 10
    assert "".join(part.new for part in parts) == f"{new}\n"


def test_a_paragraph_that_is_only_added_or_removed_is_a_hunk():
    short, long = "Do it.\n\nBe calm.\n", "Do it.\n\nBe brief.\n\nBe calm.\n"

    assert changed(short, long) == [(1, "", "Be brief.")]
    assert changed(long, short) == [(1, "Be brief.", "")]


def test_a_hunk_that_is_not_there_is_named():
    with pytest.raises(ConfigurationError, match="there is no hunk 9; v1 to v2 has 4"):
        HunkSpec.parse("v1 to v2 +9").text(OLD, NEW)


@pytest.mark.parametrize("spec", ["v3", "git:main", "git:main:v3", "prompts/desk+2.md", "v1 to v2", "v1 to v2 +1-2"])
def test_other_versions_name_no_hunk(spec):
    assert HunkSpec.parse(spec) is None


def test_a_variant_names_hunks_as_a_version_of_its_prompt(tmp_path):
    files = [write(tmp_path / "prompts" / "desk" / f"{name}.md", text) for name, text in (("v1", OLD), ("v2", NEW))]

    (put_in,) = named_prompts({"desk": "v1 to v2 +2"}, files, tmp_path, {})
    (taken_out,) = named_prompts({"desk": "v1 to v2 -2"}, files, tmp_path, {})

    assert (put_in.path, put_in.version) == ("prompts/desk/v1.md", "v1")
    assert (taken_out.path, taken_out.version) == ("prompts/desk/v2.md", "v2")
    assert "dates" in put_in.text
    assert "dates" not in taken_out.text

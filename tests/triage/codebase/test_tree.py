"""A checkout cut once: the next job finds it as it was, and whatever is wrong with what is kept costs time only."""

import os

import pytest

from triage.codebase.checkout_index import KEPT, tree_of

TEXTS = {"shop/cart.py": "def total(cart):\n    return sum(cart)\n", "README.md": "# Shop\n\nSells thîngs.\n"}


class Heard:
    """Notes what is told."""

    def __init__(self):
        self.said = []

    def __call__(self, what, done, total):
        self.said.append(what)


def seen(tree):
    return tree.chunks, tree.words.scores("total of the cart"), tree.words.scores("nothing known: zebra")


def test_a_kept_tree_is_the_one_that_was_cut(tmp_path):
    first, again = Heard(), Heard()

    assert seen(tree_of(TEXTS, tmp_path, first)) == seen(tree_of(TEXTS, tmp_path, again))
    assert set(first.said) == {"cutting files", "reading words"}
    assert again.said == []


def test_another_text_or_name_is_another_tree(tmp_path):
    tree_of(TEXTS, tmp_path)
    changed, renamed = Heard(), Heard()
    tree_of({**TEXTS, "README.md": "# Shop\n"}, tmp_path, changed)
    tree = tree_of({"a.py": TEXTS["shop/cart.py"], "README.md": TEXTS["README.md"]}, tmp_path, renamed)

    assert changed.said
    assert renamed.said
    assert {chunk.path for chunk in tree.chunks} == {"a.py", "README.md"}


def test_a_flipped_bit_changes_nothing_wherever_it_is(tmp_path):
    whole = seen(tree_of(TEXTS, tmp_path))
    [place] = tmp_path.iterdir()
    raw = place.read_bytes()
    for at in range(0, len(raw), 3):
        place.write_bytes(raw[:at] + bytes([raw[at] ^ 1 << at % 8]) + raw[at + 1 :])
        assert seen(tree_of(TEXTS, tmp_path)) == whole, at


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all"])
def test_a_half_file_is_made_anew(tmp_path, content):
    whole = seen(tree_of(TEXTS, tmp_path))
    [place] = tmp_path.iterdir()
    place.write_bytes(content)

    assert seen(tree_of(TEXTS, tmp_path)) == whole
    again = Heard()
    tree_of(TEXTS, tmp_path, again)
    assert again.said == []


def test_work_that_is_broken_off_leaves_nothing(tmp_path):
    def left(_what, _done, _total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        tree_of(TEXTS, tmp_path, left)

    assert list(tmp_path.iterdir()) == []


def test_those_not_used_for_longest_make_room(tmp_path):
    for number in range(KEPT):
        tree_of({"a.py": f"x = {number}\n"}, tmp_path)
        for older in tmp_path.iterdir():
            os.utime(older, (older.stat().st_mtime - 60,) * 2)
    tree_of({"a.py": "x = 0\n"}, tmp_path)  # the oldest is used again
    tree_of(TEXTS, tmp_path)
    used, new = Heard(), Heard()
    tree_of({"a.py": "x = 0\n"}, tmp_path, used)
    tree_of(TEXTS, tmp_path, new)

    assert len(list(tmp_path.iterdir())) == KEPT
    assert (used.said, new.said) == ([], [])


def test_a_place_where_nothing_can_be_kept_costs_time_only(tmp_path):
    (tmp_path / "file").write_text("not a folder")

    assert seen(tree_of(TEXTS, tmp_path / "file")) == seen(tree_of(TEXTS, tmp_path / "cache"))

"""What a fix edited: only what was there before, by its outermost and by its whole name."""

import pytest

from evals.triage.dataset.derive_gold import edited

BEFORE = """import os

LIMIT = 3


class Cart:
    kind = "plain"

    def __init__(self):
        self.lines = []

    def total(self):
        def taxed(amount):
            return amount
        return taxed(sum(self.lines))

    class Line:
        def price(self):
            return 1


@decorated
def receipt():
    return 1


if os.name:
    def guarded():
        return 1
"""


@pytest.mark.parametrize(
    ("old", "new", "whole"),
    [
        ("return taxed(", "return 2 * taxed(", ["Cart.total"]),
        ("            return amount\n", "            return amount * 2\n", ["Cart.total"]),
        ("self.lines = []", "self.lines = [0]", ["Cart"]),
        ('kind = "plain"', 'kind = "fancy"', ["Cart"]),
        ("def price(self):\n            return 1", "def price(self):\n            return 2", ["Cart.Line.price"]),
        ("@decorated\n", "@undecorated\n", ["receipt"]),
        ("    def guarded():\n        return 1", "    def guarded():\n        return 2", ["guarded"]),
        ("LIMIT = 3", "LIMIT = 4", []),
        ("@decorated\ndef receipt():\n    return 1\n\n\n", "", ["receipt"]),
        ("        def taxed(amount):\n            return amount\n", "", ["Cart.total"]),
        ("def receipt():\n", "def receipt():\n    print()\n", ["receipt"]),
        ("@decorated\n", "def brought():\n    return 0\n\n\n@decorated\n", []),
        ("    class Line:", "    def brought(self):\n        return 1\n\n    class Line:", []),
        ("\n\n@decorated", "\n\n\n@decorated", []),
    ],
)  # fmt: skip
def test_a_change_belongs_to_the_innermost_definition_that_was_there(old, new, whole):
    assert old in BEFORE
    found = edited({"a.py": (BEFORE, BEFORE.replace(old, new))})

    assert found.whole_names == tuple(f"a.py::{name}" for name in whole)
    assert found.functions == tuple(sorted({f"a.py::{name.partition('.')[0]}" for name in whole}))


@pytest.mark.parametrize("path", ["a.pyi", "a.txt", "setup.cfg"])
def test_what_is_no_python_names_no_function(path):
    assert edited({path: (BEFORE, "")}).functions == ()


def test_a_side_that_does_not_parse_names_none():
    assert edited({"a.py": (BEFORE, "def (")}).functions == ()


def test_a_file_that_is_removed_names_all_it_held():
    assert edited({"a.py": ("def one():\n    pass\n", "")}).whole_names == ("a.py::one",)

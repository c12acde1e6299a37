import pytest

from triage.codebase.chunk import MAX_CHARS, chunks_of

MODULE = '''"""Carts."""

import json

LIMIT = 3


# How much is in it.
@cached
def total(cart):
    return sum(cart)


class Cart:
    """Lines."""

    def add(self, sku):
        self.lines.append(sku)


if __name__ == "__main__":
    print(total([]))
'''


def shape(chunks):
    return [(chunk.start, chunk.end, chunk.text.split("\n")[0]) for chunk in chunks]


def a_big_class() -> str:
    methods = "\n".join(f"    def method_{n}(self):\n        return {'x' * 400!r}\n" for n in range(6))
    return f'class Big:\n    """Large."""\n\n{methods}'


def test_a_module_falls_into_its_definitions_and_what_stands_between():
    """A comment and the decorators above a function belong to it."""
    assert shape(chunks_of("shop/cart.py", MODULE)) == [
        (1, 5, "# shop/cart.py"),
        (8, 11, "# shop/cart.py total"),
        (14, 18, "# shop/cart.py Cart"),
        (21, 22, "# shop/cart.py"),
    ]


def test_a_chunk_holds_the_lines_it_claims():
    chunk = chunks_of("shop/cart.py", MODULE)[1]

    assert chunk.text.split("\n")[1:] == MODULE.split("\n")[chunk.start - 1 : chunk.end]


def test_a_class_too_large_for_a_chunk_goes_by_its_methods():
    names = [header for _, _, header in shape(chunks_of("big.py", a_big_class()))]

    assert names == ["# big.py Big", *(f"# big.py Big.method_{n}" for n in range(6))]


@pytest.mark.parametrize("path", ["long.py", "long.txt"])
def test_no_chunk_is_longer_than_the_limit(path):
    body = "\n".join(f"    x{n} = {'1' * 90}" for n in range(200)) + f"\n    y = '{'z' * 5000}'"

    chunks = chunks_of(path, f"def long():\n{body}\n")

    assert len(chunks) > 10
    assert max(len(chunk.text) for chunk in chunks) <= MAX_CHARS


@pytest.mark.parametrize("path", ["source.py", "notes.md", "broken.py"])
def test_every_line_that_is_not_blank_is_in_exactly_one_chunk(path):
    text = {"source.py": MODULE + a_big_class(), "notes.md": "a\n\nb\n" * 500, "broken.py": "def (:\n  x\n\n y\n"}[path]

    held = [n for chunk in chunks_of(path, text) for n in range(chunk.start, chunk.end + 1)]

    lines = text.split("\n")
    assert [n for n in held if lines[n - 1].strip()] == [n for n, line in enumerate(lines, 1) if line.strip()]


def test_chunk_ids_are_unique_within_a_file():
    ids = [chunk.id for chunk in chunks_of("a.py", MODULE + a_big_class())]

    assert len(ids) == len(set(ids))

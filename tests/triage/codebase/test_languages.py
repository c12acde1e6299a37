"""Source code of other languages than Python is cut by symbol."""

import pytest

from triage.codebase import symbols
from triage.codebase.chunk import MAX_CHARS, WINDOW_CHARS, chunks_of
from triage.codebase.search_ranking import worth_of

FILLER = "x" * 900
SOURCES = {
    "cart.ts": (
        (
            "export namespace shop {{\n  export class Cart {{\n    total(): number {{\n      return {0};\n    }}\n"
            "    add(): void {{\n      this.note({0});\n    }}\n  }}\n}}\n"
        ),
        ["shop.Cart.total", "shop.Cart.add"],
    ),
    "cart.js": (
        (
            "class Cart {{\n  total() {{\n    return {0};\n  }}\n  add = () => {{\n    note({0});\n  }}\n}}\n"
            "const free = async () => {{\n  return 1;\n}};\nmodule.exports.pay = function () {{\n  return 2;\n}};\n"
        ),
        ["Cart.total", "Cart.add", "free", "pay"],
    ),
    "View.tsx": (
        (
            "export const View = memo((props) => {{\n  return <b>{{props.x}}</b>;\n}});\n"
            "export default function () {{\n  return {0};\n}}\n"
        ),
        ["View", "default"],
    ),
    "cart.go": (
        (
            "package shop\n\n// Total adds up.\nfunc (c *Cart[T]) Total() int {{\n\treturn {0}\n}}\n\n"
            "func Free() {{\n}}\n\ntype Cart struct {{\n\tn int\n}}\n"
        ),
        ["Cart.Total", "Free", "Cart"],
    ),
    "Cart.java": (
        (
            "package shop;\n\n@Bean\npublic class Cart {{\n  int total() {{\n    return {0};\n  }}\n"
            "  static class Line {{\n    void add() {{\n      note({0});\n    }}\n  }}\n}}\n"
        ),
        ["Cart.total", "Cart.Line"],
    ),
    "cart.rs": (
        (
            "mod shop {{\n    impl<T> Display for Cart<T> {{\n        fn fmt(&self) {{\n            {0}\n        }}\n"
            "        fn add(&self) {{\n            {0}\n        }}\n    }}\n    #[test]\n    fn free() {{\n    }}\n}}\n"
        ),
        ["shop.Cart.fmt", "shop.Cart.add", "shop.free"],
    ),
    "Cart.cs": (
        (
            "namespace Shop.Core;\n\n[Bean]\npublic class Cart {{\n  int Total() {{\n    return {0};\n  }}\n"
            "  void Add() {{\n    Note({0});\n  }}\n}}\n"
        ),
        ["Shop.Core.Cart.Total", "Shop.Core.Cart.Add"],
    ),
    "cart.rb": (
        (
            "module Shop\n  class Cart\n    def total\n      {0}\n    end\n\n"
            "    def self.add\n      {0}\n    end\n  end\nend\n"
        ),
        ["Shop.Cart.total", "Shop.Cart.add"],
    ),
    "cart.c": ("#ifdef X\nstatic int *total(int n) {{\n  return {0};\n}}\n#endif\n", ["total"]),
    "cart.cpp": (
        (
            "namespace shop::core {{\ntemplate <class T>\nint Cart<T>::total() {{\n  return {0};\n}}\n"
            "Cart::~Cart() {{\n  note({0});\n}}\n}}\n"
        ),
        ["shop.core.Cart.total", "shop.core.Cart.~Cart"],
    ),
}


def a_source(name: str) -> str:
    return SOURCES[name][0].format(FILLER)


def names_of(path: str, text: str) -> list[str]:
    return [chunk.symbol.partition("::")[2] for chunk in chunks_of(path, text)]


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_is_cut_into_its_definitions(name):
    """A class that is too long for a chunk goes by its methods."""
    found = names_of(name, a_source(name))

    assert [one for one in found if one in SOURCES[name][1]] == SOURCES[name][1]


@pytest.mark.parametrize("name", SOURCES)
def test_every_line_with_text_is_in_exactly_one_chunk(name):
    text = a_source(name)
    covered = [n for chunk in chunks_of(name, text) for n in range(chunk.start, chunk.end + 1)]

    assert len(covered) == len(set(covered))
    assert {n for n, line in enumerate(text.split("\n"), 1) if line.strip()} <= set(covered)
    assert all(len(chunk.text) <= MAX_CHARS for chunk in chunks_of(name, text))


@pytest.mark.parametrize(
    ("above", "path", "source"),
    [
        ("// Adds up.\n// All of it.", "a.go", "func Total() {\n}"),
        ("/// Adds up.\n#[inline]", "a.rs", "fn total() {\n}"),
        ("/** Adds up. */", "a.ts", "export function total() {\n}"),
        ("# Adds up.", "a.rb", "def total\nend"),
    ],
)
def test_comments_and_attributes_right_above_a_definition_belong_to_it(above, path, source):
    chunk = chunks_of(path, f"\n\n{above}\n{source}\n")[-1]

    assert chunk.symbol.lower() == f"{path}::total"
    assert above in chunk.text


def test_two_definitions_on_one_line_lose_no_line():
    text = "function a() {} function b() {\n  return 1;\n}\n"

    assert names_of("a.js", text) == ["a", "b"]
    assert "".join(chunk.text.partition("\n")[2] for chunk in chunks_of("a.js", text)) == text.rstrip("\n").replace(
        "{\n  return", "{  return"
    )


DEEP = "namespace a {\n" * 60 + "}\n" * 60


def is_cut_by_lines(path: str, text: str) -> bool:
    return {chunk.symbol for chunk in chunks_of(path, text)} == {path}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("broken.ts", "class {{{ (((\n" * 40),
        ("minified.js", "function a(){return 1};" * 400),
        ("long.go", "package a\n" + "// long\n" * 60_000),
        ("deep.cs", DEEP),
        ("broken.py", "def (:\n"),
        ("brackets.ts", "const a = " + "\n".join("(" * 100 for _ in range(500)) + ";\n"),
    ],
)
def test_a_file_that_cannot_be_cut_by_symbol_is_cut_by_lines(path, text):
    assert is_cut_by_lines(path, text)
    assert path.endswith(".py") or all(len(chunk.text) <= WINDOW_CHARS for chunk in chunks_of(path, text))


def test_a_file_that_takes_too_long_is_cut_by_lines(monkeypatch):
    monkeypatch.setattr(symbols, "MAX_SECONDS", -1.0)

    assert is_cut_by_lines("slow.go", "package a\n" + "func F() {\n\tg()\n}\n" * 2_000)


@pytest.mark.parametrize(
    ("path", "worth"),
    [
        ("src/cart.test.ts", 0.5),
        ("src/__tests__/cart.ts", 0.5),
        ("shop/cart_test.go", 0.5),
        ("src/test/java/CartTest.java", 0.5),
        ("spec/cart_spec.rb", 0.5),
        ("src/Contest.java", 1.0),
        ("src/cart.ts", 1.0),
    ],
)
def test_tests_of_other_languages_count_half(path, worth):
    assert worth_of(path) == worth

"""Small datasets on disk: one codebase, one true case, and whatever a test changes about them."""

import copy
import random
from pathlib import Path
from typing import Any

import yaml

POLICY = Path(__file__).parents[2] / "datasets" / "triage" / "policy.yaml"

CART = '''"""Adds up what a customer buys."""

TAX = 0.2


def net_total(prices):
    """The sum without tax."""
    return sum(prices)


class Cart:
    """A list of prices."""

    def __init__(self, prices):
        self.prices = list(prices)

    def total(self):
        """The sum with tax."""

        def taxed(amount):
            return amount * (1 + TAX)

        return taxed(net_total(self.prices))
'''
TEST = """import unittest

from shop.cart import net_total


class NetTotal(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(net_total([1, 2]), 3)
"""
PATCH = """diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -5,7 +5,7 @@

 def net_total(prices):
     \"\"\"The sum without tax.\"\"\"
-    return sum(prices)
+    return sum(prices[1:])


 class Cart:
"""
REPRO = "from shop.cart import net_total\n\nassert net_total([1, 2]) == 3\n"
ISSUE = """# Totals are too small

My order of two books shows only the price of the second one. I use the hosted version and did not change anything.
"""
GOLD, USER = {"proof": ["gold"]}, {"proof": ["user"]}
LABELS: dict[str, Any] = {
    "id": "wrong-total",
    "codebase": "shop",
    "archetype": "local_bug",
    "split": "tune",
    "severity": "HIGH",
    "category": "code",
    "root_cause": "The first price is left out of the sum.",
    "gold": {"files": ["shop/cart.py"], "functions": ["shop/cart.py::net_total"]},
    "question": {"policy": "forbidden"},
    "route": [
        {
            "constraints": [
                {"id": "end", "type": "end", "a": ["writer"], "w": 2, "hard": True},
                {"id": "must", "type": "existence", "a": ["codebase_search"], "min": 1, "w": 2, "hard": True} | GOLD,
                {"id": "codebase_search<writer", "type": "precedence", "a": ["codebase_search"], "b": ["writer"]},
                {"id": "unneeded:web_search", "type": "existence", "a": ["web_search"], "max": 0, "w": 2},
                {"id": "never:human_input", "type": "existence", "a": ["human_input"], "max": 0, "w": 2, "hard": True},
                {"id": "search<critic", "type": "precedence", "a": ["codebase_search", "web_search"], "b": ["critic"]},
            ],
            "target": 4,
            "max": 5,
            "node_max": {"human_input": 0},
            "exemplars": [["investigator", "codebase_search", "critic", "writer"]],
        }
    ],
}  # fmt: skip


QUESTION: dict[str, Any] = {
    "id": "which-region",
    "codebase": "shop",
    "archetype": "environment_ambiguity",
    "split": "gate",
    "severity": "LOW",
    "category": "environment",
    "root_cause": "Their region rounds tax per item.",
    "question": {
        "policy": "required",
        "answers": [
            {
                "topic": "region",
                "keywords": ["region", "country", "where", "tax", "state"],
                "answer": "We are in Norway.",
            }
        ],
    },
    "route": [
        {
            "constraints": [
                {"id": "end", "type": "end", "a": ["writer"], "w": 2, "hard": True},
                {"id": "ask", "type": "existence", "a": ["human_input"], "min": 1, "w": 3, "hard": True} | USER,
                {"id": "ask_once", "type": "existence", "a": ["human_input"], "max": 1, "w": 2},
                {"id": "look", "type": "precedence", "a": ["codebase_search", "web_search"], "b": ["human_input"]},
                {"id": "search<critic", "type": "precedence", "a": ["codebase_search", "web_search"], "b": ["critic"]},
            ],
            "target": 5,
            "max": 6,
            "exemplars": [["investigator", "codebase_search", "human_input", "critic", "writer"]],
        }
    ],
}

WISH: dict[str, Any] = {
    "archetype": "feature_request",
    "codebase": "shop",
    "severity": "LOW",
    "category": "feature",
    "root_cause": "The shop was never meant to do this.",
    "question": {"policy": "forbidden"},
    "route": [
        {
            "constraints": [
                {"id": "end", "type": "end", "a": ["writer"], "w": 2, "hard": True},
                {"id": "never:human_input", "type": "existence", "a": ["human_input"], "max": 0, "w": 2, "hard": True},
                {"id": "unneeded:codebase_search", "type": "existence", "a": ["codebase_search"], "max": 0, "w": 2},
                {"id": "unneeded:web_search", "type": "existence", "a": ["web_search"], "max": 0, "w": 2},
            ],
            "target": 3,
            "max": 4,
            "node_max": {"human_input": 0},
            "exemplars": [["investigator", "critic", "writer"]],
        }
    ],
}
SYLLABLES = [f"{consonant}{vowel}" for consonant in "bdklmn" for vowel in "aeiou"]
SCHEMA_LINE = "# yaml-language-server: $schema=../../case.schema.json\n"
PRICE_LISTS = {
    f"shop/prices_{letter}.py": f'"""Prices of shelf {letter}."""\n\nPRICES = {{\n'
    + "".join(f'    "{letter}-{number:03}": {number},\n' for number in range(115))
    + "}\n"
    for letter in "abcdefg"
}
"""Seven modules that make the shop as large as a codebase has to be."""


def a_codebase(root: Path, name: str = "shop", **files: str) -> Path:
    """A clean package; `files` adds or replaces some of its files, `__` in a name standing for a slash."""
    folder = root / "codebases" / name
    contents = {
        "codebase.yaml": f"repository: example/{name}\ndescription: Adds up prices.\n",
        "README.md": "# shop\n",
        "shop/__init__.py": "",
        "shop/cart.py": CART,
        "tests/test_cart.py": TEST,
    }
    for path, text in {**contents, **{path.replace("__", "/") + ".py": text for path, text in files.items()}}.items():
        write(folder / path, text)
    return folder


def a_case_file(**changes: Any) -> dict[str, Any]:
    """Labels that are true of the case `a_case_folder` writes, with some changed."""
    return copy.deepcopy(LABELS) | changes


def a_question_case(**changes: Any) -> dict[str, Any]:
    """Labels of a case in which no code is to blame and the user has to be asked, with some changed."""
    return copy.deepcopy(QUESTION) | changes


def a_case_folder(
    root: Path,
    labels: dict[str, Any] | None = None,
    *,
    issue: str = ISSUE,
    patch: str | None = PATCH,
    repro: str | None = REPRO,
) -> Path:
    """One case on disk. Returns its folder."""
    labels = labels or a_case_file()
    folder = root / "triage" / "cases" / labels["id"]
    relabel(root, labels)
    write(folder / "issue.md", issue)
    for name, text in (("bug.patch", patch), ("repro.py", repro)):
        if text is not None:
            write(folder / name, text)
    return folder


def relabel(root: Path, labels: dict[str, Any]) -> Path:
    """The `case.yaml` of a case, written anew."""
    path = root / "triage" / "cases" / labels["id"] / "case.yaml"
    return write(path, SCHEMA_LINE + yaml.safe_dump(labels, sort_keys=False))


def a_wish(root: Path, number: int, split: str = "tune", **changes: Any) -> Path:
    """One of any number of feature requests, each in words of its own. Returns its folder."""
    chosen = random.Random(number)  # noqa: S311 - made-up words, no secret
    words = ["".join(chosen.choices(SYLLABLES, k=3)) for _ in range(40)]
    issue = f"{' '.join(words[:5])}\n\n{' '.join(words[5:])}\n"
    labels = copy.deepcopy(WISH) | {"id": f"wish-{number}", "split": split} | changes
    return a_case_folder(root, labels, issue=issue, patch=None, repro=None)


def a_dataset(root: Path, *labels: dict[str, Any], **case: Any) -> Path:
    """A whole dataset in `root`: the codebase, the real policy, and a case per labels given (default one)."""
    a_codebase(root)
    write(root / "triage" / "policy.yaml", POLICY.read_text(encoding="utf-8"))
    for each in labels or (a_case_file(),):
        a_case_folder(root, each, **case)
    return root


def a_sound_dataset(root: Path) -> Path:
    """A dataset lint has nothing against: one bug to find in the code, one case to ask about."""
    a_dataset(root)
    for path, text in PRICE_LISTS.items():
        write(root / "codebases" / "shop" / path, text)
    issue = "Tax is off by a cent\n\nOn some orders, and only for some of our colleagues. Any idea what it hangs on?\n"
    a_case_folder(root, a_question_case(), issue=issue, patch=None, repro=None)
    return root


def a_page(
    root: Path,
    name: str = "locking",
    *,
    url: str = "",
    title: str = "Locking",
    body: str = "Lock it.",
    only_for: str | None = None,
) -> Path:
    """One page of the offline web, for all cases or `only_for` one."""
    url = url or f"https://docs.invalid/{name}"
    limits = f"only_for: [{only_for}]\n" if only_for else ""
    text = f"---\nurl: {url}\ntitle: {title}\npublished: 2026-01-02\n{limits}---\n{body}\n"
    return write(root / "web" / f"{name}.md", text)


def write(path: Path, text: str) -> Path:
    """The file with this text, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path

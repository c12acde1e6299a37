"""Rows and folders as foreign datasets have them: one fault in `shop/cart.py`, whatever the format."""

import json
from pathlib import Path
from typing import Any

from tests.builders.dataset import write

GOLD = "shop/cart.py"
REMOVED, ADDED = "    return sum(prices[1:])", "    return sum(prices)"
STATEMENT = "Totals are too small\n\nTwo books cost as much as one.\n"
HINT = "The slice drops the first price."
FAILING = "tests/test_totals.py::test_two_books"


def a_change(path: str = GOLD, new_path: str | None = None, *, context: str = "def net_total(prices):") -> str:
    """The diff of one changed line, as git writes it; a rename if `new_path` is given."""
    after = new_path or path
    renamed = f"similarity index 90%\nrename from {path}\nrename to {after}\n" if new_path else ""
    return (
        f"diff --git a/{path} b/{after}\n{renamed}index 1111111..2222222 100644\n--- a/{path}\n+++ b/{after}\n"
        f"@@ -5,3 +5,3 @@ {context}\n \n-{REMOVED}\n+{ADDED}\n \n"
    )


def a_new_file(path: str) -> str:
    """The diff that adds a file of one line."""
    header = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..1111111\n"
    return f"{header}--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x = 1\n"


def a_deleted_file(path: str) -> str:
    """The diff that removes a file of one line."""
    header = f"diff --git a/{path} b/{path}\ndeleted file mode 100644\nindex 1111111..0000000\n"
    return f"{header}--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"


def a_swebench_row(**changes: Any) -> dict[str, Any]:
    """One row of SWE-bench."""
    return {
        "instance_id": "example__shop-7",
        "repo": "example/shop",
        "base_commit": "c" * 40,
        "patch": a_change(),
        "test_patch": a_change("tests/test_totals.py"),
        "problem_statement": STATEMENT,
        "hints_text": HINT,
        "created_at": "2026-01-02T03:04:05Z",
        "version": "1.2",
        "FAIL_TO_PASS": json.dumps([FAILING]),
        "PASS_TO_PASS": "[]",
    } | changes


def a_locbench_row(**changes: Any) -> dict[str, Any]:
    """One row of LocAgent's benchmark."""
    return a_swebench_row(edit_functions=["shop/cart.py:Cart.total", "shop/cart.py:net_total"]) | changes


def a_locagent_output(**changes: Any) -> dict[str, Any]:
    """One row of what LocAgent writes: what it found, and the issue it was about."""
    row = a_swebench_row()
    return {
        "instance_id": row["instance_id"],
        "found_files": [["shop/wrong.py"]],
        "found_modules": [["shop/wrong.py:Wrong"]],
        "found_entities": [["shop/wrong.py:Wrong.guess"]],
        "raw_output_loc": ["shop/wrong.py"],
        "meta_data": {key: row[key] for key in ("repo", "base_commit", "problem_statement", "patch")},
    } | changes


def a_github_issue(**changes: Any) -> dict[str, Any]:
    """What `gh issue view --json …` prints."""
    return {
        "title": "Totals are too small",
        "body": "Two books cost as much as one.\r\n",
        "url": "https://github.com/example/shop/issues/7",
        "number": 7,
        "labels": [{"name": "area-cart-label"}],
        "comments": [{"body": "Fixed by the change to shop/cart.py"}],
    } | changes


def as_json_lines(path: Path, *rows: object) -> Path:
    """The rows, one a line; text goes in as it is."""
    return write(path, "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))

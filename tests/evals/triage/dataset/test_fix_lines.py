"""Lines of the searched code that the fix edits, within the functions to blame."""

import pytest

from evals.cassettes.cassette_data import Cassette
from evals.runner.case_task import CaseTask
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.fix_lines import fix_lines
from evals.triage.dataset.load_cases import load_one
from evals.triage.dataset.package_store import Shelf
from evals.triage.recorded_graph import replay_case
from tests.builders.dataset import CART, LABELS, a_dataset, write
from tests.builders.facts import a_variant
from tests.builders.released import CASE, FAULTY, MENDED, a_released_dataset, a_wheel

HEAD = """RATE = 0.2


def total(prices):
    found = 0
    for price in prices:
        found += price

    return round(found, 2)


def other(prices):
    return len(prices)
"""


def lines_of(root, cache, case_id=CASE):
    case = load_one(root, case_id)
    return fix_lines(case, root, cache, materialise(case, root, cache))


def lines_between(tmp_path, clean, bug, *functions, name="shop/sums.py"):
    """Of a case of ours whose patch makes the file `bug` out of `clean`."""
    gold = {"files": [name], "functions": [f"{name}::{each}" for each in functions]}
    root = a_dataset(tmp_path / "d", LABELS | {"gold": gold}, patch=_patch(name, clean, bug))
    write(root / "codebases" / "shop" / name, clean)
    return lines_of(root, tmp_path / "c")


def _patch(name, clean, bug):
    removed, added = (text.splitlines() for text in (clean, bug))
    lines = [*(f"-{line}" for line in removed), *(f"+{line}" for line in added)]
    head = f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1,{len(removed)} +1,{len(added)} @@\n"
    return head + "\n".join(lines) + "\n"


def test_of_a_case_of_ours_they_are_the_lines_its_patch_makes(tmp_path):
    root = a_dataset(tmp_path / "d")

    assert lines_of(root, tmp_path / "c") == ("shop/cart.py:8-8",)
    assert (tmp_path / "d/codebases/shop/shop/cart.py").read_text() == CART


def test_a_replayed_trial_knows_them(tmp_path):
    root, variant = a_dataset(tmp_path / "d"), a_variant("v3").variant
    task = CaseTask(load_one(root, CASE), (variant,), 0, tmp_path / "none.yaml", root, tmp_path, tmp_path / "v.npz")

    (trace,) = replay_case(task, Cassette(tmp_path / "none.yaml", exists=False))

    assert trace.facts["fix_lines"] == ("shop/cart.py:8-8",)


def test_lines_are_numbered_as_in_the_code_that_is_searched(tmp_path):
    bug = "import math\n\n" + HEAD.replace("found += price", "found = price").replace("found = 0", "found = 1")

    assert lines_between(tmp_path, HEAD, bug, "total") == ("shop/sums.py:7-7", "shop/sums.py:9-9")


def test_lines_that_the_fix_adds_count_as_the_lines_around_them(tmp_path):
    """The line before and the line after: blank ones are none."""
    bug = HEAD.replace("        found += price\n", "        pass\n")
    clean = bug.replace("        pass\n", "        pass\n        found += price\n")

    assert lines_between(tmp_path, clean, bug, "total") == ("shop/sums.py:7-7", "shop/sums.py:9-9")


def test_lines_outside_of_the_functions_to_blame_do_not_count(tmp_path):
    bug = (
        HEAD.replace("RATE = 0.2", "RATE = 2")
        .replace("len(prices)", "len(prices) - 1")
        .replace("found = 0", "found = 1")
    )

    assert lines_between(tmp_path, HEAD, bug, "total") == ("shop/sums.py:5-5",)
    assert lines_between(tmp_path / "both", HEAD, bug, "total", "other") == ("shop/sums.py:5-5", "shop/sums.py:13-13")


def test_of_a_function_that_the_fix_takes_away_every_line_counts(tmp_path):
    assert lines_between(tmp_path, HEAD.partition("\n\n\ndef other")[0] + "\n", HEAD, "other") == (
        "shop/sums.py:12-13",
    )


def test_other_languages_are_read_too(tmp_path):
    clean = "const rate = 0.2;\n\nexport function total(prices) {\n  return prices.length;\n}\n"
    bug = clean.replace("prices.length", "prices.length - 1")

    assert lines_between(tmp_path, clean, bug, "total", name="web/sums.ts") == ("web/sums.ts:4-4",)


@pytest.mark.parametrize("functions", [(), ("other",)])
def test_there_are_none_where_no_function_to_blame_is_edited(tmp_path, functions):
    assert lines_between(tmp_path, HEAD, HEAD.replace("found = 0", "found = 1"), *functions) == ()


def test_there_are_none_where_a_side_does_not_parse(tmp_path):
    broken = HEAD.replace("def total(prices):", "def total(prices:")

    assert lines_between(tmp_path / "a", HEAD, broken, "total") == ()
    assert lines_between(tmp_path / "b", broken, HEAD, "total") == ()


GOLD = {"gold": {"files": ["shop/cart.py"], "functions": ["shop/cart.py::net_total"]}}


def a_released_case(tmp_path, *, fetched=True, fixed=True, **labels):
    faulty, mended = a_wheel(tmp_path, "1.0", FAULTY), a_wheel(tmp_path, "1.1", MENDED)
    shelf = Shelf(tmp_path / "c")
    for release in (faulty, mended) if fetched else (faulty,):
        shelf.keep(release, tmp_path / f"shop-{release.version}-py3-none-any.whl")
        shelf.put(release)
    return a_released_dataset(tmp_path / "d", faulty, mended if fixed else None, **(GOLD | labels))


def test_of_a_released_package_they_are_the_lines_that_differ_in_the_fixed_release(tmp_path):
    number = MENDED["shop/cart.py"].split("\n").index("    total = sum(prices[0:])") + 1

    assert lines_of(a_released_case(tmp_path), tmp_path / "c") == (f"shop/cart.py:{number}-{number}",)


@pytest.mark.parametrize(
    "missing", [{"fetched": False}, {"fixed": False}, {"gold": {"files": ["shop/cart.py"], "functions": []}}]
)
def test_there_are_none_where_the_fix_is_not_known_or_not_here(tmp_path, missing):
    assert lines_of(a_released_case(tmp_path, **missing), tmp_path / "c") == ()

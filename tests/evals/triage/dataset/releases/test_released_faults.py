"""Faults planted in a case on a released package; each is found, by the one check it is for."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from evals.triage.dataset.checks import codebase_checks as process
from evals.triage.dataset.checks import release_checks as two_releases
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.lint_dataset import run_lint
from evals.triage.dataset.package_store import Release, Shelf
from tests.builders.dataset import write
from tests.builders.released import CART, CASE, FAULTY, MENDED, REPRO, a_released_dataset, a_wheel

WHOLE_DATASET = {"splits_are_filled"}
"""What one case alone cannot help."""


@dataclass(frozen=True)
class Shop:
    """The releases there are, on a shelf."""

    cache: Path
    faulty: Release
    mended: Release
    helper: Release
    helper_mended: Release


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("releases")
    helper = {"rounding.py": "def cents(value):\n    return int(value)\n"}
    shop = Shop(
        folder / "cache",
        a_wheel(folder / "links", "1.0", FAULTY),
        a_wheel(folder / "links", "1.1", MENDED),
        a_wheel(folder / "links", "2.0", helper, package="rounding"),
        a_wheel(
            folder / "links", "2.1", {"rounding.py": helper["rounding.py"].replace("int", "round")}, package="rounding"
        ),
    )
    shelf = Shelf(shop.cache)
    for wheel in (folder / "links").glob("*.whl"):
        found = next(
            r
            for r in (shop.faulty, shop.mended, shop.helper, shop.helper_mended)
            if f"{r.package}-{r.version}-" in wheel.name
        )
        shelf.keep(found, wheel)
        shelf.put(found)
    return shop


def findings(root, shop):
    found = run_lint(root, shop.cache)
    return [finding for finding in found if finding.check not in WHOLE_DATASET]


def a_case(root, shop, *, repro=None, issue=None, mended="same", needs=(), **labels):
    a_released_dataset(root, shop.faulty, shop.mended if mended == "same" else mended, needs, **labels)
    layout = Layout(root)
    if repro is not None:
        write(layout.repro(CASE), repro)
    if issue is not None:
        write(layout.issue(CASE), issue)
    return root


def test_a_run_that_several_checks_ask_for_is_made_once(tmp_path, shop, monkeypatch):
    """And of every run the bytecode is left to the next, apart from the release and only as long as this process."""
    asked, really = [], two_releases.run_apart

    def run_apart(repro, folders, environment, *, seed):
        asked.append((folders, seed))
        return really(repro, folders, environment, seed=seed)

    monkeypatch.setattr(two_releases, "run_apart", run_apart)
    a_case(tmp_path, shop, repro=f"{REPRO}# as nobody asked before\n")

    assert findings(tmp_path, shop) == []
    assert len(asked) == len(set(asked)) == 5  # both releases in two orders of sets, and the gold put back
    assert list(Shelf(shop.cache).unpacked(shop.faulty).rglob("*.pyc")) == []
    assert list(process._bytecode().rglob("cart*.pyc"))


def gold(files=("shop/cart.py",), functions=("shop/cart.py::net_total",)):
    return {"files": list(files), "functions": list(functions)}


FAULTS = {
    "a repro that passes before": (
        {"repro": "import shop.cart\n"},
        "repro_tells_the_releases_apart",
        "passes on shop 1.0",
    ),
    "a repro that fails after": (
        {"repro": REPRO + "assert False\n"},
        "repro_tells_the_releases_apart",
        "fails on shop 1.1",
    ),
    "a repro with a typing error": (
        {"repro": "def x(:\n"},
        "repro_tells_the_releases_apart",
        "does not come to the fault",
    ),
    "a repro that needs a library": (
        {"repro": "import numpy\n" + REPRO},
        "repro_imports_what_is_named",
        "imports 'numpy'",
    ),
    "a repro that copies the package": (
        {"repro": REPRO + '"""\n' + CART + '"""\n'},
        "nothing_is_copied",
        "write it anew",
    ),
    "a gold function that did not change": (
        {"gold": gold(functions=("shop/cart.py::net_total", "shop/cart.py::Cart"))},
        "gold_differs_between_the_releases",
        "shop/cart.py::Cart did not change between shop 1.0 and shop 1.1",
    ),
    "a gold file that did not change": (
        {"gold": gold(files=("shop/cart.py", "shop/more.py"))},
        "gold_differs_between_the_releases",
        "shop/more.py did not change",
    ),
    "a gold that brings nothing back": (
        {"gold": gold(("shop/more.py",), ("shop/more.py::helper_1",))},
        "gold_alone_brings_the_fault_back",
        "does not bring the fault back",
    ),
    "a gold file that is not there": (
        {"gold": gold(("shop/nosuch.py",), ())},
        "gold_is_searched",
        "'shop/nosuch.py', which is no searched file",
    ),
    "a gold function that is not there": (
        {"gold": gold(functions=("shop/cart.py::nosuch",))},
        "gold_is_searched",
        "no such outermost function",
    ),
    "a function of another file": (
        {"gold": gold(functions=("shop/more.py::helper_1",))},
        "gold_is_searched",
        "stands in no file of the gold",
    ),
    "a reason where none is needed": (
        {"unproved": "it cannot be shown"},
        "gold_alone_brings_the_fault_back",
        "does bring the fault back",
    ),
    "a setting that is not needed": (
        {"environment": {"TZ": "Asia/Tokyo"}},
        "environment_is_needed",
        "fails without it, too",
    ),
    "a code bug that nothing mends": ({"mended": None}, "fix_is_another_release", "no release mends it"),
    "a repro that proves nothing": ({"mended": None}, "repro_exists_where_it_can_show", "no release is `fixed`"),
    "a source line in a trace": (
        {"issue": '# Totals are too small\n\n  File "cart.py", line 12, in net_total\n    total = sum(prices[1:])\n'},
        "nothing_is_copied",
        "shows a source line",
    ),
    "an issue that copies the package": (
        {"issue": "# Totals are too small\n\n" + CART.replace("START", "1")[100:]},
        "nothing_is_copied",
        "in your own words",
    ),
    "a gold in the issue": ({"issue": "# Totals\n\nIt is in shop/cart.py.\n"}, "gold_not_in_issue", "which is gold"),
    "a category that is not the fix's": (
        {"category": "not_a_bug", "archetype": "usage_question", "severity": "LOW", "gold": {}, "repro": REPRO},
        "fix_is_another_release",
        "although the category is `not_a_bug`",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, tmp_path, shop):
    changes, check, message = FAULTS[fault]
    found = findings(a_case(tmp_path, shop, **changes), shop)

    assert [each for each in found if each.check == check and message in each.message], found


def test_a_fault_in_a_dependency_is_a_third_party_s(tmp_path, shop):
    """The release itself stays; what it needs is exchanged."""
    told = {"category": "third_party", "archetype": "third_party", "gold": {}}
    root = a_case(
        tmp_path,
        shop,
        mended=shop.helper_mended,
        needs=(shop.helper,),
        repro="import rounding\n\nassert rounding.cents(1.9) == 2\n",
        **told,
    )

    assert [each.check for each in findings(root, shop) if each.check != "demands_are_proved"] == []


def test_a_dependency_that_is_not_pinned_cannot_have_mended_it(tmp_path, shop):
    told = {"category": "third_party", "archetype": "third_party", "gold": {}}
    root = a_case(tmp_path, shop, mended=shop.helper_mended, **told)

    assert any("neither the package nor among the `needs`" in each.message for each in findings(root, shop))


def test_a_patch_has_no_place_beside_a_release(tmp_path, shop):
    write(Layout(a_case(tmp_path, shop)).patch(CASE), "--- a\n+++ b\n")

    assert any("a release is never patched" in each.message for each in findings(tmp_path, shop))


def test_code_beside_the_description_is_refused(tmp_path, shop):
    write(Layout(a_case(tmp_path, shop)).codebase("shop-1.0") / "cart.py", CART)

    assert any("never committed" in each.message for each in findings(tmp_path, shop))


def test_what_is_not_fetched_is_not_proved_and_says_so(tmp_path, shop):
    """And it is looked at again once it is there: nothing wrong is remembered."""
    root = a_case(tmp_path, shop)

    missing = [each.message for each in run_lint(root, tmp_path / "empty") if each.check == "releases_are_here"]
    assert missing == [
        "cannot be proved, since shop 1.0, shop 1.1 is not here; run `evals dataset fetch --dataset released`"
    ]
    assert findings(root, shop) == []


def test_a_fault_that_needs_a_setting_is_proved_with_it(tmp_path, shop):
    repro = "import os\n" + REPRO.replace("assert", "assert os.environ['TZ'] == 'UTC' or")
    root = a_case(tmp_path, shop, repro=repro, environment={"TZ": "Asia/Tokyo"})

    assert findings(root, shop) == []


def test_the_name_of_the_fix_alone_is_no_other_release(tmp_path, shop):
    root = a_case(tmp_path, shop, mended=shop.faulty)

    assert any("is the release with the fault itself" in each.message for each in findings(root, shop))

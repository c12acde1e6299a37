"""Runs of a dataset's code: what one of them compiled serves the next, and never in the place of another text."""

import os

import pytest

from evals.triage.dataset.checks import codebase_checks as process
from evals.triage.dataset.checks.codebase_checks import copied, run_apart


@pytest.fixture
def tree(tmp_path):
    """A package of two modules, and a script that says what each of them holds."""
    (tmp_path / "tree" / "shop").mkdir(parents=True)
    for name in ("__init__", "cart", "till"):
        (tmp_path / "tree" / "shop" / f"{name}.py").write_text("HELD = 'old'\n")
    (tmp_path / "say.py").write_text("import shop.cart, shop.till\nraise SystemExit(shop.cart.HELD + shop.till.HELD)\n")
    return tmp_path / "tree"


def said(folder, tree):
    return run_apart(tree.parent / "say.py", [folder], {}).said


def test_a_file_changed_within_a_second_to_as_many_bytes_is_compiled_anew(tree):
    assert said(tree, tree) == "oldold"

    with copied(tree, ["shop/cart.py"]) as copy:
        was = (copy / "shop/cart.py").stat()
        (copy / "shop/cart.py").write_text("HELD = 'new'\n")
        os.utime(copy / "shop/cart.py", ns=(was.st_atime_ns, was.st_mtime_ns))

        assert said(copy, tree) == "newold"
    assert said(tree, tree) == "oldold"


def test_what_was_compiled_of_a_tree_serves_its_copy_and_goes_with_it(tree):
    said(tree, tree)

    with copied(tree, ["shop/cart.py"]) as copy:
        compiled = process._compiled_of(copy)
        assert {path.name.partition(".")[0] for path in compiled.rglob("*.pyc")} == {"__init__", "till"}
        before = {path: path.stat().st_mtime_ns for path in compiled.rglob("*.pyc")}
        said(copy, tree)
        assert before.items() < {path: path.stat().st_mtime_ns for path in compiled.rglob("*.pyc")}.items()
    assert not compiled.exists()
    assert not copy.exists()


def test_a_tree_of_which_nothing_was_compiled_is_copied_all_the_same(tree):
    with copied(tree, []) as copy:
        assert said(copy, tree) == "oldold"

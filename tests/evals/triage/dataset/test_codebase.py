"""Materialised trees: the right code, nothing else, and safe to build twice at once."""

import subprocess
from concurrent.futures import ProcessPoolExecutor

import pytest

from evals.errors import DatasetError
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.load_cases import load_cases
from tests.builders.dataset import CART, a_case_file, a_codebase, a_dataset, write


def _built(root, cache):
    return materialise(load_cases(root)["wrong-total"], root, cache)


def _files(tree):
    return sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file())


def test_the_patch_is_applied(tmp_path):
    tree = _built(a_dataset(tmp_path / "d"), tmp_path / "c")

    assert "sum(prices[1:])" in (tree / "shop" / "cart.py").read_text()


def test_the_clean_codebase_is_never_touched(tmp_path):
    root = a_dataset(tmp_path / "d")
    _built(root, tmp_path / "c")

    assert (Layout(root).codebase("shop") / "shop" / "cart.py").read_text() == CART


def test_the_tree_holds_sources_and_nothing_about_the_case(tmp_path):
    root = a_dataset(tmp_path / "d")
    write(a_codebase(root) / "shop" / "__pycache__" / "cart.pyc", "x")

    tree = _built(root, tmp_path / "c")
    assert _files(tree) == ["README.md", "shop/__init__.py", "shop/cart.py", "tests/test_cart.py"]


def test_a_patch_that_does_not_apply_is_an_error(tmp_path):
    root = a_dataset(tmp_path / "d")
    a_codebase(root, shop__cart="TAX = 1\n")

    with pytest.raises(DatasetError, match=r"bug\.patch: does not apply"):
        _built(root, tmp_path / "c")


def test_a_failed_build_leaves_nothing_behind(tmp_path):
    root = a_dataset(tmp_path / "d", patch="no patch at all\n")
    with pytest.raises(DatasetError):
        _built(root, tmp_path / "c")

    assert list((tmp_path / "c" / "codebases").iterdir()) == []


def test_a_surrounding_repository_does_not_swallow_the_patch(tmp_path):
    """Inside a repository `git apply` would skip our files without a word."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)

    tree = _built(a_dataset(tmp_path / "d"), tmp_path / "c")
    assert "sum(prices[1:])" in (tree / "shop" / "cart.py").read_text()


def test_the_repository_of_a_running_hook_does_not_swallow_the_patch(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))

    tree = _built(a_dataset(tmp_path / "d"), tmp_path / "c")
    assert "sum(prices[1:])" in (tree / "shop" / "cart.py").read_text()


def test_cases_with_the_same_code_share_a_tree(tmp_path):
    root = a_dataset(tmp_path / "d", a_case_file(), a_case_file(id="twin"))
    cases = load_cases(root)

    trees = {materialise(case, root, tmp_path / "c") for case in cases.values()}
    assert len(trees) == 1


@pytest.mark.parametrize("damage", [lambda file: file.unlink(), lambda file: file.write_bytes(b"")])
def test_a_tree_that_lost_its_files_is_filled_anew(tmp_path, damage):
    root = a_dataset(tmp_path / "d")
    tree = _built(root, tmp_path / "c")
    before = {name: (tree / name).read_bytes() for name in _files(tree)}
    for name in before:
        damage(tree / name)

    assert _built(root, tmp_path / "c") == tree
    assert {name: (tree / name).read_bytes() for name in _files(tree)} == before


def test_a_changed_codebase_gets_a_tree_of_its_own(tmp_path):
    root = a_dataset(tmp_path / "d")
    before = _built(root, tmp_path / "c")
    a_codebase(root, shop__more="X = 1\n")

    assert _built(root, tmp_path / "c") != before


@pytest.mark.slow
def test_many_processes_may_build_the_same_tree_at_once(tmp_path):
    root, cache = a_dataset(tmp_path / "d"), tmp_path / "c"
    case = load_cases(root)["wrong-total"]
    with ProcessPoolExecutor(4) as pool:
        trees = {job.result() for job in [pool.submit(materialise, case, root, cache) for _ in range(12)]}

    assert list((cache / "codebases").iterdir()) == [*trees]

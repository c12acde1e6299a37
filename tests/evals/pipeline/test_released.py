"""A suite on a dataset of its own, whose code has to be fetched first."""

from pathlib import Path

import pytest
import yaml

from evals.cli.main import main
from evals.errors import ConfigurationError, NotFetchedError
from evals.models.run_request import Options
from evals.pipeline.load_suite import needless, selected
from evals.suites.suite_files import names_on, read_suite
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.load_cases import load_cases
from evals.triage.dataset.package_store import Release, Shelf
from evals.workspace import Workspace
from tests.builders.dataset import write
from tests.builders.released import CASE, FAULTY, a_released_dataset, a_wheel

UNKNOWN = Release(package="shop", version="1.0", sha256="0" * 64)
SUITE = {
    "name": "own",
    "description": "d",
    "dataset": "small",
    "cases": {},
    "models": {"default": "m", "fallback": "m"},
    "variants": [{"name": "v3", "prompt": "v3"}, {"name": "v5", "prompt": "v5"}],
    "candidate": "v5",
    "reference": "v3",
}


@pytest.fixture
def root(tmp_path):
    write(tmp_path / "own.yaml", yaml.safe_dump(SUITE))
    (tmp_path / "cassettes").mkdir()
    return tmp_path


def fetched(root, **labels):
    """The checkout with a dataset whose release is here."""
    files = FAULTY | {"shop/tests/__init__.py": "", "shop/test_cart.py": "", "shop/data.json": "{}"}
    release = a_wheel(root / "links", "1.0", files)
    shelf = Shelf(root / ".cache")
    shelf.keep(release, root / "links" / "shop-1.0-py3-none-any.whl")
    shelf.put(release)
    a_released_dataset(root / "datasets" / "small", release, None, **labels)
    return release


def test_a_suite_names_its_dataset_and_its_recordings_stand_apart(root):
    fetched(root)
    chosen = selected(str(root / "own.yaml"), root, Options())

    assert [case.id for case in chosen.cases] == [CASE]
    assert chosen.workspace.cassette(CASE) == root / "cassettes" / "small" / f"{CASE}.yaml"
    assert needless(chosen) == ()


def test_without_the_packages_one_line_says_what_to_run(root, capsys):
    a_released_dataset(root / "datasets" / "small", UNKNOWN, None)

    assert main(["run", str(root / "own.yaml"), "--root", str(root)]) == 3
    assert (
        "1 of 1 released packages are not here, or not whole (shop 1.0); "
        "run `evals dataset fetch --dataset released` once" in (capsys.readouterr().err)
    )


def test_the_search_tree_holds_no_tests_and_no_data(root):
    fetched(root)
    workspace = Workspace.at(root, root / "datasets" / "small")
    [case] = load_cases(workspace.datasets).values()
    tree = materialise(case, workspace.datasets, workspace.cache)

    assert tree.name == case.tree
    assert sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*.*")) == sorted(FAULTY)


def test_a_release_that_was_changed_below_the_cache_is_not_searched(root):
    release = fetched(root)
    (Shelf(root / ".cache").unpacked(release) / "shop" / "cart.py").write_text("changed = True\n")

    with pytest.raises(NotFetchedError, match="not here, or not whole"):
        selected(str(root / "own.yaml"), root, Options())


def test_another_release_is_another_case(root, tmp_path):
    """Whatever rests on a case is made anew once its code is another."""
    digests = set()
    for number, release in enumerate((UNKNOWN, UNKNOWN.model_copy(update={"sha256": "1" * 64}))):
        data = a_released_dataset(tmp_path / str(number), release, None)
        digests.add(next(iter(load_cases(data).values())).digest)

    assert len(digests) == 2


def test_a_dataset_below_datasets_may_be_called_by_its_name(root):
    fetched(root)

    assert Workspace.at(root, Path("small")).datasets == Workspace.at(root, root / "datasets" / "small").datasets
    with pytest.raises(ConfigurationError, match="there is no such folder"):
        Workspace.at(root, root / "nosuch")


def test_a_suite_without_a_dataset_is_written_as_it_always_was():
    """Its digest stands beside every result."""
    assert "dataset" not in read_suite("prompts").model_dump()
    assert read_suite("released").model_dump()["dataset"] == "released"


def test_the_shipped_suites_are_told_apart_by_their_dataset():
    assert names_on("released") == ("released",)
    assert {"prompts", "samples"} <= set(names_on(None))

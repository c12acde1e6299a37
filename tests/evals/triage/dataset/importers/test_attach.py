"""Rows with a clone at hand: the commit of their code, the functions their fix edits, and what is said of the rest."""

import pytest
import yaml

from evals.triage.cli.add_cases import IMPORTERS
from evals.triage.dataset.case_code import POINTER
from evals.triage.dataset.imported_dataset_writer import attached, labels_of
from evals.triage.dataset.repository_clones import Clones
from tests.builders.foreign import a_github_issue, a_locbench_row, a_swebench_row, as_json_lines
from tests.builders.planted import a_history, a_patch, the_rows


def issues(tmp_path, *rows, source="swebench", repos=True):
    """What the rows become, with the clones below `tmp_path / "repos"`."""
    found = IMPORTERS[source](as_json_lines(tmp_path / "rows.jsonl", *rows))
    return list(attached(found, Clones(tmp_path / "repos") if repos else None, tmp_path / "cache"))


def planted(tmp_path, before, after, **more):
    """A row whose repository goes from one state to the other."""
    folder = tmp_path / "repos" / "shop"
    base, fix = a_history(folder, before, after)
    return a_swebench_row(base_commit=base, patch=a_patch(folder, base, fix), test_patch="", **more)


def test_the_three_projects_get_commit_and_functions(tmp_path):
    rows = the_rows(tmp_path / "repos")

    found = issues(tmp_path, *rows)
    assert [one.commit for one in found] == [row["base_commit"] for row in rows]
    assert [one.files for one in found] == [
        ("shop/cart.py",),
        ("src/settings/reader.py",),
        ("jobs/old.py", "jobs/queue.py"),
    ]
    assert [one.functions for one in found] == [
        ("shop/cart.py::Cart",),
        ("src/settings/reader.py::load",),
        ("jobs/old.py::unused", "jobs/queue.py::Queue"),
    ]
    assert [one.whole_names for one in found] == [
        ("shop/cart.py::Cart.total",),
        ("src/settings/reader.py::load",),
        ("jobs/old.py::unused", "jobs/queue.py::Queue.put"),
    ]


def test_a_row_without_a_clone_is_as_it_was_and_says_so(tmp_path):
    (tmp_path / "repos").mkdir()
    [issue] = issues(tmp_path, a_swebench_row())
    [plain] = issues(tmp_path, a_swebench_row(), repos=False)

    assert labels_of(issue, "swebench", "case") == labels_of(plain, "swebench", "case")
    assert issue.notes == ("without its code: there is no clone of example/shop",)


def test_a_clone_without_the_commit_says_what_to_do(tmp_path):
    a_history(tmp_path / "repos" / "shop", {"a.py": "x = 1\n"})
    [issue] = issues(tmp_path, a_swebench_row())

    expected = f"without its code: the clone of example/shop has no commit {'c' * 12}; fetch it there"
    assert (issue.commit, issue.notes) == ("", (expected,))


def test_an_issue_whose_source_names_no_commit_says_so(tmp_path):
    (tmp_path / "repos").mkdir()
    [issue] = issues(tmp_path, a_github_issue(), source="github")

    assert issue.notes[-1] == "without its code: its source names no commit"


def test_no_path_of_the_machine_is_in_the_case(tmp_path):
    found = issues(tmp_path, *the_rows(tmp_path / "repos"))

    told = [labels_of(one, "swebench", "case").model_dump_json() + repr(one.notes) for one in found]
    assert not [text for text in told if str(tmp_path) in text]
    assert '"base_commit"' in told[0]


def test_submodules_and_lfs_pointers_are_said(tmp_path):
    row = planted(
        tmp_path,
        {"data/a.bin": POINTER + b"oid sha256:1\nsize 9\n", "shop.py": "x = 1\n"},
        {"shop.py": "x = 2\n"},
    )

    [issue] = issues(tmp_path, row)
    assert issue.notes == ("kept by git-lfs, so that only pointers are here: data/a.bin",)


def test_a_patch_that_does_not_fit_the_code_costs_the_functions_alone(tmp_path):
    row = planted(
        tmp_path, {"shop/cart.py": "def total():\n    return 1\n"}, {"shop/cart.py": "def total():\n    return 2\n"}
    )

    [issue] = issues(tmp_path, row | {"patch": row["patch"].replace("return 1", "return 7")})
    assert issue.functions == ()
    assert issue.notes == (f"functions not derived: its patch does not apply to {issue.commit[:12]}",)


def test_gold_that_is_not_in_the_code_is_said(tmp_path):
    row = planted(tmp_path, {"shop/cart.py": "x = 1\n"}, {"shop/cart.py": "x = 2\n"})

    [issue] = issues(tmp_path, row | {"edit_functions": ["shop/gone.py:total"]}, source="locagent")
    assert issue.notes == (f"shop/gone.py: gold, but not in the code at {issue.commit[:12]}",)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_functions_are_derived_whatever_the_line_ends(tmp_path, end):
    before, after = (f"def total():{end}    return {n}{end}".encode() for n in (1, 2))
    row = planted(tmp_path, {"shop/cart.py": before}, {"shop/cart.py": after})

    [issue] = issues(tmp_path, row)
    assert issue.functions == ("shop/cart.py::total",)


def test_a_case_file_names_commit_and_repository_and_reads_back(tmp_path):
    [issue, *_] = issues(tmp_path, *the_rows(tmp_path / "repos"))
    labels = labels_of(issue, "swebench", "case")

    text = yaml.safe_dump(labels.model_dump(mode="json", by_alias=True, exclude_defaults=True))
    read = yaml.safe_load(text)
    assert (read["repository"], read["base_commit"]) == ("example/shop", issue.commit)
    assert read["gold"]["whole_names"] == ["shop/cart.py::Cart.total"]


def test_locagents_functions_keep_their_whole_names(tmp_path):
    [issue] = issues(tmp_path, a_locbench_row(), source="locagent", repos=False)

    assert issue.whole_names == ("shop/cart.py::Cart.total", "shop/cart.py::net_total")

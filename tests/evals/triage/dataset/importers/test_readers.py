"""The four readers: what becomes an issue, what it is labelled with, and what is refused."""

from dataclasses import replace

import pytest

from evals.triage.cli.add_cases import IMPORTERS
from evals.triage.dataset.imported_issue_files import ForeignIssue, Refused
from tests.builders.foreign import (
    FAILING,
    GOLD,
    STATEMENT,
    a_change,
    a_github_issue,
    a_locagent_output,
    a_locbench_row,
    a_swebench_row,
    as_json_lines,
)


def read(source, path):
    return list(IMPORTERS[source](path))


def read_one(source, tmp_path, row):
    [found] = read(source, as_json_lines(tmp_path / "rows.jsonl", row))
    return found


def test_a_swebench_row_becomes_an_issue_with_gold_files(tmp_path):
    issue = read_one("swebench", tmp_path, a_swebench_row())

    expected = ForeignIssue("1", "example__shop-7", "example/shop", STATEMENT.strip("\n"), files=(GOLD,))
    assert issue == replace(expected, base_commit="c" * 40, patch=a_change())


def test_a_file_of_the_test_patch_is_no_gold(tmp_path):
    row = a_swebench_row(patch=a_change() + a_change("checks/totals.py"), test_patch=a_change("checks/totals.py"))

    assert read_one("swebench", tmp_path, row).files == (GOLD,)


def test_a_carriage_return_inside_a_line_does_not_tear_the_patch(tmp_path):
    row = a_swebench_row(patch=a_change().replace("prices[1:]", "prices[1:\r]"))

    assert read_one("swebench", tmp_path, row).files == (GOLD,)


def test_a_test_patch_that_cannot_be_read_is_said_and_costs_nothing_else(tmp_path):
    issue = read_one("swebench", tmp_path, a_swebench_row(test_patch="words"))

    assert issue.files == (GOLD,)
    assert "tests are told by their names alone" in issue.notes[0]


@pytest.mark.parametrize("listed", [[FAILING], f'["{FAILING}"]', f"['{FAILING}']", None, ""])
def test_fail_to_pass_may_be_text_or_a_list(tmp_path, listed):
    assert read_one("swebench", tmp_path, a_swebench_row(FAIL_TO_PASS=listed)).notes == ()


def test_a_fail_to_pass_that_cannot_be_read_is_said(tmp_path):
    row = a_swebench_row() | {"FAIL_TO_PASS": "[broken"}

    [note] = read_one("swebench", tmp_path, row).notes

    assert note.startswith("FAIL_TO_PASS is neither JSON nor a Python literal")


@pytest.mark.parametrize("key", ["problem_statement", "repo", "instance_id"])
@pytest.mark.parametrize("value", [None, "", " \n "])
@pytest.mark.parametrize("source", ["swebench", "locagent"])
def test_a_row_without_what_a_case_needs_is_refused(tmp_path, source, key, value):
    assert read_one(source, tmp_path, a_swebench_row(**{key: value})).why == f"has no {key}"


def test_a_refused_row_is_named_and_the_others_go_on(tmp_path):
    path = as_json_lines(tmp_path / "rows.jsonl", a_swebench_row(patch=""), "nonsense", a_swebench_row())

    refused, nonsense, issue = read("swebench", path)

    assert (refused.row, refused.name) == ("1", "example__shop-7")
    assert (nonsense.row, type(nonsense), type(issue)) == ("2", Refused, ForeignIssue)


def test_edit_functions_are_gold_by_their_outermost_name(tmp_path):
    issue = read_one("locagent", tmp_path, a_locbench_row())

    assert issue.functions == ("shop/cart.py::Cart", "shop/cart.py::net_total")


@pytest.mark.parametrize("listed", ["['shop/tax.py:rate', 'tests/test_tax.py:test_rate']", '["shop/tax.py:rate"]'])
def test_files_of_edit_functions_are_gold_beside_the_patch(tmp_path, listed):
    issue = read_one("locagent", tmp_path, a_locbench_row(edit_functions=listed))

    assert (issue.files, issue.functions) == ((GOLD, "shop/tax.py"), ("shop/tax.py::rate",))


def test_edit_functions_alone_are_enough(tmp_path):
    issue = read_one("locagent", tmp_path, a_locbench_row(patch=""))

    assert (issue.files, issue.notes) == ((GOLD,), ("has no patch: the files are those of its edit_functions",))


@pytest.mark.parametrize("saved", [lambda meta: meta, repr])
def test_what_locagent_found_is_never_gold(tmp_path, saved):
    """It is a prediction; gold is the patch of the issue it was about."""
    output = a_locagent_output()

    issue = read_one("locagent", tmp_path, output | {"meta_data": saved(output["meta_data"])})

    assert (issue.files, issue.functions, issue.text) == ((GOLD,), (), STATEMENT.strip("\n"))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (a_locagent_output(meta_data={}), "holds a prediction and no issue"),
        (a_locagent_output(meta_data="{broken"), "meta_data is neither"),
        (a_locagent_output(meta_data=[1]), "meta_data is no mapping"),
        (a_locbench_row(edit_functions=["no function"]), "edit_functions 'no function' is no"),
        (a_locbench_row(edit_functions="[broken"), "edit_functions is neither"),
        (a_locbench_row(edit_functions=["../a.py:f"]), "outside the repository"),
    ],
)
def test_a_locagent_row_that_cannot_be_read_is_refused(tmp_path, row, why):
    assert why in read_one("locagent", tmp_path, row).why


def test_a_github_issue_brings_its_text_and_no_gold(tmp_path):
    issue = read_one("github", tmp_path, a_github_issue())

    assert (issue.name, issue.repository, issue.files) == ("example/shop#7", "example/shop", ())
    assert issue.text == "Totals are too small\n\nTwo books cost as much as one.\n"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"title": ""}, "has no title"),
        ({"url": None}, "has no url"),
        ({"url": "https://github.com/example/shop"}, "its url is not that of an issue"),
        ({"url": "https://github.com/example/shop/pull/7"}, "is a pull request"),
    ],
)
def test_a_github_issue_from_nowhere_is_refused(tmp_path, change, why):
    assert why in read_one("github", tmp_path, a_github_issue(**change)).why

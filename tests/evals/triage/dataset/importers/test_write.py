"""From issues to a dataset: whole or not at all, and nothing pretended."""

import json
import re

import pytest

from evals.errors import ConfigurationError, DatasetError
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.imported_dataset_writer import LONGEST_ID, REPORT, write_dataset
from evals.triage.dataset.imported_issue_files import ForeignIssue, Refused
from evals.triage.dataset.load_cases import load_cases
from evals.triage.dataset.route_strictness import mutants, rejected_exemplars, strictness_of
from tests.builders.dataset import POLICY, write


def an_issue(name="example__shop-7", **fields):
    told = {"row": "1", "repository": "example/shop", "text": "It breaks\n\nOften.", "files": ("shop/cart.py",)}
    return ForeignIssue(**told | {"name": name} | fields)


def imported(tmp_path, *found, source="swebench"):
    report = write_dataset(found, source, POLICY, tmp_path / "out")
    return report, list(load_cases(tmp_path / "out").values())


def test_an_imported_dataset_loads_like_any_other(tmp_path):
    _, [case] = imported(tmp_path, an_issue())

    assert (case.id, case.title, case.body) == ("example-shop-7", "It breaks", "Often.")
    assert (case.repository, case.labels.gold.files) == ("example/shop", ("shop/cart.py",))
    assert (case.labels.codebase, case.labels.origin.name) == (None, "example__shop-7")


@pytest.mark.parametrize(
    ("stated", "label"),
    [({"files": ()}, "gold"), ({"functions": ()}, "functions")],
)
def test_a_label_is_unlabelled_exactly_where_nothing_states_it(tmp_path, stated, label):
    whole = an_issue("whole", functions=("shop/cart.py::Cart",))
    part = an_issue("part", **{"functions": ("shop/cart.py::Cart",)} | stated)

    _, cases = imported(tmp_path, whole, part)

    assert [label in case.labels.unlabelled for case in cases] == [True, False]


@pytest.mark.parametrize("files", [("shop/cart.py",), ()])
def test_the_generic_route_is_strict_and_notices_damage(tmp_path, files):
    _, [case] = imported(tmp_path, an_issue(files=files))

    assert strictness_of(case.route_spec, tmp_path).share < 0.01
    assert not list(rejected_exemplars(case.route_spec))
    assert all(mutant.killed for mutant in mutants(case.route_spec))


@pytest.mark.parametrize(("files", "must"), [(("shop/cart.py",), True), ((), False)])
def test_the_code_must_be_searched_where_the_fix_was_in_the_code(tmp_path, files, must):
    _, [case] = imported(tmp_path, an_issue(files=files))

    ids = [constraint.id for constraint in case.route_spec.alternatives[0].constraints]
    assert ("must:codebase_search" in ids) == must


def test_the_report_says_what_became_of_every_row(tmp_path):
    imported(tmp_path, an_issue(notes=("n.py: is binary",)), Refused("2", "b", "has no repo"))

    report = json.loads((tmp_path / "out" / REPORT).read_text())
    assert report["skipped"] == [{"row": "2", "name": "b", "why": "has no repo"}]
    assert [(one["row"], one["id"], one["notes"]) for one in report["imported"]] == [
        ("1", "example-shop-7", ["n.py: is binary"])
    ]


def test_a_name_that_comes_twice_is_taken_once(tmp_path):
    report, cases = imported(tmp_path, an_issue(), an_issue(row="2", text="Another"))

    assert [case.title for case in cases] == ["It breaks"]
    assert [skipped.row for skipped in report.skipped] == ["2"]


@pytest.mark.parametrize(
    "name", ["A__b-1", "../../etc", "a/b#1", "Ünïcode", "-x-", "日本語", "x" * 300, "con.", "a\x00b", "\ud800"]
)
def test_a_name_becomes_a_safe_folder(tmp_path, name):
    _, [case] = imported(tmp_path, an_issue(name.replace("\ud800", "?")))

    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", case.id)
    assert len(case.id) <= LONGEST_ID


@pytest.mark.parametrize(
    "issue",
    [
        an_issue("b", repository="no repository"),
        an_issue("b", text="half \ud83d"),
        an_issue("\ud83d"),
        an_issue("b", text="# \n\nno title"),
    ],
)
def test_an_issue_that_makes_no_case_is_skipped_and_leaves_nothing(tmp_path, issue):
    report, cases = imported(tmp_path, an_issue(), issue)

    assert len(report.skipped) == 1
    assert [entry.name for entry in Layout(tmp_path / "out").cases.iterdir()] == [case.id for case in cases]


def test_a_folder_that_holds_something_is_refused(tmp_path):
    write(tmp_path / "out" / "mine.txt", "kept")

    with pytest.raises(ConfigurationError, match="not empty"):
        imported(tmp_path, an_issue())

    assert (tmp_path / "out" / "mine.txt").read_text() == "kept"


def test_an_import_of_nothing_is_an_error_and_writes_nothing(tmp_path):
    with pytest.raises(DatasetError, match=r"nothing could be imported: 1 rows were refused.* has no repo"):
        imported(tmp_path, Refused("1", "a", "has no repo"))

    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_import_leaves_nothing_behind(tmp_path):
    def interrupted():
        yield an_issue()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_dataset(interrupted(), "swebench", POLICY, tmp_path / "out")

    assert list(tmp_path.iterdir()) == []

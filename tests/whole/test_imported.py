"""A whole run over somebody else's issues: imported, recorded, replayed; no code of theirs is here."""

import pytest

from tests.builders.checkout import a_checkout, a_suite, evals
from tests.builders.command import command
from tests.builders.foreign import a_swebench_row, as_json_lines
from tests.builders.llm_server import an_llm_server

pytestmark = pytest.mark.slow


def a_foreign_checkout(tmp_path):
    checkout = a_checkout(tmp_path / "checkout")
    a_suite(checkout, cases={"tags": ["imported"]})
    rows = as_json_lines(tmp_path / "rows.jsonl", a_swebench_row(), a_swebench_row(instance_id="example__shop-8"))
    assert command("dataset", "import", "swebench", rows, "--out", checkout / "foreign").code == 0
    return checkout


def test_imported_cases_are_recorded_and_replayed_like_any_other(tmp_path):
    checkout = a_foreign_checkout(tmp_path)
    with an_llm_server() as llm:
        recorded = evals(checkout, "record", "tiny.yaml", "--dataset", "foreign", "--base-url", llm.base_url)

    assert "4 of 4 trials replay exactly" in " ".join(recorded.out.split()), recorded.err
    assert evals(checkout, "plan", "tiny.yaml", "--dataset", "foreign").code == 0
    said = evals(checkout, "run", "tiny.yaml", "--dataset", "foreign")
    assert said.code == 0, said.out
    assert said.out.count("2/2") >= 2


def test_what_is_not_recorded_of_another_dataset_names_the_command_for_that_dataset(tmp_path):
    said = evals(a_foreign_checkout(tmp_path), "run", "tiny.yaml", "--dataset", "foreign")

    assert said.code == 3
    assert 'ARGS="--dataset foreign"' in " ".join(said.out.split())


@pytest.mark.parametrize("told", ["foreign", "./foreign"])
def test_a_suite_names_an_imported_dataset_as_the_import_and_the_option_do(told, tmp_path):
    checkout = a_foreign_checkout(tmp_path)
    option = evals(checkout, "plan", "tiny.yaml", "--dataset", told)
    suite = checkout / "tiny.yaml"
    suite.write_text(f"{suite.read_text()}dataset: {told}\n")

    said = evals(checkout, "plan", "tiny.yaml")

    assert (said.code, said.err) == (option.code, option.err)
    assert said.out.splitlines()[:-1] == option.out.splitlines()[:-1]  # the last names the command


def test_the_checkouts_own_cases_are_not_in_a_run_over_another_dataset(tmp_path):
    said = evals(a_foreign_checkout(tmp_path), "run", "tiny.yaml", "--dataset", "foreign", "--case", "wrong-sum")

    assert said.code == 2
    assert "no such case: wrong-sum" in said.err

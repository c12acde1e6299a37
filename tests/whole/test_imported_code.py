"""A whole run over somebody else's issues with their code: three rows, three clones, a fake endpoint, a replay."""

import json
import os
import shutil

import pytest
import yaml

from evals.triage.dataset.load_cases import load_cases
from tests.builders.checkout import a_checkout, a_suite, evals
from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.foreign import as_json_lines
from tests.builders.llm_server import an_llm_server, answering
from tests.builders.planted import the_rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """A folder with a checkout that has the three rows imported, and their clones `elsewhere`."""
    tmp_path = tmp_path_factory.mktemp("imported")
    checkout = a_checkout(tmp_path / "checkout")
    a_suite(checkout, cases={"tags": ["imported"]})
    rows = as_json_lines(tmp_path / "rows.jsonl", *the_rows(tmp_path / "repos"))
    words = ("dataset", "import", "swebench", str(rows), "--out", "foreign", "--repos", str(tmp_path / "repos"))
    said = evals(checkout, *words)
    assert said.code == 0, said.err
    assert "with their code: 3 of 3" in " ".join(said.out.split())
    shutil.move(tmp_path / "repos", tmp_path / "elsewhere")
    return tmp_path


@pytest.fixture
def checkout(imported, tmp_path, monkeypatch):
    """A copy of its own to each test."""
    monkeypatch.delenv("EVALS_REPOS", raising=False)
    return shutil.copytree(imported, tmp_path, dirs_exist_ok=True) / "checkout"


@pytest.fixture(scope="module")
def told(imported, tmp_path_factory):
    """A checkout in which the suite is recorded, and what was asked for that."""
    checkout = shutil.copytree(imported, tmp_path_factory.mktemp("recorded"), dirs_exist_ok=True) / "checkout"
    return checkout, recorded(checkout)


def recorded(checkout):
    """The suite recorded by a team that names nothing of its own; every request it was sent, in order of its text."""
    vague = {
        "investigator": {
            "affected_areas": [],
            "keywords_for_search": ["total", "load", "put"],
            "hypothesis": "Unclear.",
        },
        "codebase_search": {"root_cause_location": None},
        "writer": {"root_cause": "Unknown.", "root_cause_location": None, "affected_files": [], "evidence": []},
    }
    answer = answering(**{agent: {**WORKER_REPLIES[agent], **told} for agent, told in vague.items()})
    asked = []

    def heard(agent, body):
        asked.append(json.dumps(body, ensure_ascii=False))
        return answer(agent, body)

    with an_llm_server(heard) as llm:
        said = evals(checkout, "record", "tiny.yaml", "--dataset", "foreign", "--base-url", llm.base_url)
    assert "6 of 6 trials replay exactly" in " ".join(said.out.split()), said.err
    return sorted(asked)


def test_three_rows_are_recorded_and_replayed_over_their_own_code(told):
    checkout, asked = told[0], "".join(told[1])

    said = evals(checkout, "run", "tiny.yaml", "--dataset", "foreign", "--fresh")
    assert said.code == 0, said.out + said.err
    assert said.out.count("3/3") >= 2
    told = json.loads((checkout / "reports" / "latest" / "run.json").read_text())
    assert [len(case["labels"]["whole_names"]) for case in told["cases"]] == [2, 1, 1]
    assert "file Acc" in (checkout / "reports" / "latest" / "summary.md").read_text()
    assert "as published evaluations score it" in (checkout / "reports" / "latest" / "index.html").read_text()
    places = ("# shop/cart.py", "# src/settings/reader.py", "# jobs/queue.py")
    assert [place for place in places if place not in asked] == []


def test_nothing_of_the_fix_the_tests_or_the_labels_is_in_any_request(told):
    checkout, asked = told

    labels = [case.labels for case in load_cases(checkout / "foreign").values()]
    secrets = [
        *("return sum(self.prices)\\n", "or {}", "src/settings/loading.py", "the first price counts"),
        *(secret for label in labels for secret in (label.base_commit, *label.gold.whole_names)),
        *("base_commit", "whole_names", "unlabelled", "swebench"),
    ]
    assert [secret for secret in secrets if any(secret in text for text in asked)] == []


def test_other_gold_would_have_asked_the_very_same(checkout, told):
    """Gold files are in the code, which the search shows; so that they are not *told* is proved by telling others."""
    for path in (checkout / "foreign").rglob("case.yaml"):
        labels = yaml.safe_load(path.read_text())
        labels["gold"] = {"files": ["shop/tax.py"], "functions": ["shop/tax.py::with_tax"]}
        path.write_text(yaml.safe_dump(labels, sort_keys=False))

    assert recorded(checkout) == told[1]


def test_code_that_went_is_one_line_and_comes_back_with_the_clones(checkout, tmp_path, monkeypatch):
    shutil.rmtree(checkout / ".cache")

    said = evals(checkout, "run", "tiny.yaml", "--dataset", "foreign")
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert "(and 2 more) is not here" in said.err
    monkeypatch.setenv("EVALS_REPOS", str(tmp_path / "elsewhere"))
    assert evals(checkout, "run", "tiny.yaml", "--dataset", "foreign").code == 3  # nothing is recorded


def test_no_file_of_the_dataset_names_a_folder_of_the_machine(checkout, imported):
    files = [path for path in (checkout / "foreign").rglob("*") if path.is_file()]

    assert files
    assert [path for path in files if str(imported).encode() in path.read_bytes()] == []


def test_a_folder_of_clones_that_is_none_is_one_line_and_exit_2(checkout, tmp_path):
    words = ("dataset", "import", "swebench", str(tmp_path / "rows.jsonl"), "--out", "again", "--repos", "nowhere")

    said = evals(checkout, *words)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "nowhere: there is no such folder" in said.err
    assert not os.path.lexists(checkout / "again")

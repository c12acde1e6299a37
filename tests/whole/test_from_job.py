"""The way back: a live job becomes a case, a person labels it, and it replays offline as it ran."""

import json
import re
import sqlite3
from contextlib import closing

import pytest
import yaml

from evals.triage.dataset.checks.text_checks import MARK
from evals.triage.dataset.load_cases import load_cases
from tests.builders.checkout import evals
from tests.builders.dataset import a_dataset
from tests.builders.desk import NEW, a_desk, triage_at
from tests.builders.git import git
from tests.builders.llm_server import answering
from tests.builders.secret import PLANTED

A_KEY = PLANTED["github_token"]
STOPS = ("investigator", "human_input", "web_search", "codebase_search", "critic", "writer")
ROUTE = f"[{', '.join(STOPS)}]"
CASE = "datasets/triage/cases/carts"
SUITE = "datasets/triage/suites/carts.yaml"
LABELLED = {
    r"tags: \[.*": "tags: [live]",
    r'root_cause: ".*"': "root_cause: Quantities are overwritten.",
    r"gold: \{\}": "gold: {files: [cart.py], functions: ['cart.py::add']}",
    r"- \[investigator, codebase_search(, codebase_search)?, critic, writer\]\n": "",
}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A desk whose shop stands under git, and an empty dataset beside it."""
    desk = a_desk(tmp_path, monkeypatch)
    git(desk / "shop", "init", "--quiet")
    git(desk / "shop", "add", ".")
    git(desk / "shop", "commit", "--quiet", "-m", "A shop")
    a_dataset(desk / "datasets")
    return desk


def a_live_job(monkeypatch, *more: str, **replies) -> int:
    """One that asks, searches and writes."""
    stops = iter(STOPS)
    with triage_at(monkeypatch, answering(lambda _: next(stops), **replies)) as (triage, _):
        return triage("run", "--repo", "shop", *NEW, "--answer", "MySQL", *more)


def the_case(checkout) -> str:
    return (checkout / CASE / "case.yaml").read_text()


def label(checkout) -> None:
    """What a person does: candidates of states dropped, marks taken out, labels filled in."""
    text = "\n".join(line for line in the_case(checkout).splitlines() if not line.startswith("# ") or "schema" in line)
    text = re.sub(rf"  # {re.escape(MARK)}.*", "", text)
    for found, right in LABELLED.items():
        text = re.sub(found, right, text)
    data = yaml.safe_load(text)
    rules = data["route"][0]
    rules["constraints"] = [{"id": "end", "type": "end", "a": ["writer"], "w": 2, "hard": True}]
    rules.pop("node_max")
    rules["max"] = 7
    rules["exemplars"] = [list(STOPS)]
    head = text.splitlines()[0]
    (checkout / CASE / "case.yaml").write_text(f"{head}\n{yaml.safe_dump(data, sort_keys=False)}")


def test_a_live_job_becomes_a_case_that_replays_as_it_ran(checkout, monkeypatch):
    assert a_live_job(monkeypatch, "--record") == 0
    made = evals(checkout, "dataset", "new", "carts", "--from-job", "one")
    assert made.code == 0, made.err
    assert "cassettes/carts.yaml" in made.out

    linted = evals(checkout, "dataset", "lint", "--case", "carts")
    assert linted.code == 1
    for missing in ("take out what you have labelled", "by impact", "what only the user knows", "how the job went"):
        assert f"is not filled in: {missing}" in linted.out

    label(checkout)
    assert "job-carts has no baseline yet" in evals(checkout, "run", SUITE).out
    assert evals(checkout, "bless", SUITE).code == 0
    run = evals(checkout, "run", SUITE)
    assert run.code == 0, run.out + run.err
    trial = json.loads((checkout / "reports/latest/run.json").read_text())["trials"]
    assert [one["trace"]["provenance"]["label"] for one in trial] == ["exact"] * 2
    assert [visit["node"] for visit in trial[0]["trace"]["visits"]] == list(STOPS)
    assert trial[0]["trace"]["exchanges"][0]["answer"] == "MySQL"


def test_what_a_person_has_labelled_lint_no_longer_asks_for(checkout, monkeypatch):
    a_live_job(monkeypatch, "--record")
    evals(checkout, "dataset", "new", "carts", "--from-job", "one")
    label(checkout)

    assert "is not filled in" not in evals(checkout, "dataset", "lint", "--case", "carts").out


def test_gold_that_is_not_in_the_code_is_found(checkout, monkeypatch):
    a_live_job(monkeypatch)
    evals(checkout, "dataset", "new", "carts", "--from-job", "one")
    label(checkout)
    path = checkout / CASE / "case.yaml"
    path.write_text(path.read_text().replace("cart.py::add", "cart.py::subtract"))

    told = evals(checkout, "dataset", "lint", "--case", "carts").out
    assert "cart.py::subtract: no such function or class is defined there" in told


def test_the_code_is_that_of_the_commit_the_job_was_begun_at(checkout, monkeypatch):
    a_live_job(monkeypatch)
    (checkout / "shop/cart.py").write_text("def mended():\n    pass\n")

    assert evals(checkout, "dataset", "new", "carts", "--from-job", "one").code == 0
    [code] = (checkout / "datasets/codebases").glob("shop-*/cart.py")
    assert code.read_text().startswith("def add(")


def test_the_case_knows_the_job_and_says_nothing_of_what_the_supervisor_chose(checkout, monkeypatch):
    a_live_job(monkeypatch)
    evals(checkout, "dataset", "new", "carts", "--from-job", "one")

    case = load_cases(checkout / "datasets")["carts"]
    assert (case.labels.origin.name, case.repository, case.title) == ("one", "shop", "Cart total is wrong")
    assert f"- {ROUTE}" in the_case(checkout)
    candidates = the_case(checkout).partition("# decision_points:")[2]
    assert "decision-5" in candidates
    assert "next_node" not in candidates


def test_code_in_a_folder_of_any_name_keeps_its_name(checkout, monkeypatch):
    (checkout / "shop").rename(checkout / "my shop")
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "my shop", *NEW)

    assert evals(checkout, "dataset", "new", "carts", "--from-job", "one").code == 0
    assert load_cases(checkout / "datasets")["carts"].repository == "my shop"


def test_what_is_known_to_be_no_secret_is_allowed(checkout, monkeypatch):
    (checkout / "issue.md").write_text(f"# Cart total is wrong\n\nMy key was {A_KEY}.\n")
    a_live_job(monkeypatch)
    refused = evals(checkout, "dataset", "new", "carts", "--from-job", "one")
    assert refused.code == 2
    [digest] = re.findall(r"allow sha256 (\w+) in", refused.err)

    (checkout / "cassettes").mkdir()
    allowed = (
        f'[[allowed]]\nrule = "github_token"\nsha256 = "{digest}"\nwhy = "made up"\nwho = "me"\ndate = 2026-11-22\n'
    )
    (checkout / "cassettes/allowed-secrets.toml").write_text(allowed)
    assert evals(checkout, "dataset", "new", "carts", "--from-job", "one").code == 0


def test_without_traffic_the_case_is_made_and_what_is_missing_said(checkout, monkeypatch):
    a_live_job(monkeypatch)
    made = evals(checkout, "dataset", "new", "carts", "--from-job", "one")

    assert "no traffic was kept (triage run --record keeps it)" in made.out
    assert not (checkout / "cassettes").exists()


def test_a_secret_in_the_traffic_is_refused_and_nothing_is_written(checkout, monkeypatch):
    a_live_job(monkeypatch, "--record")
    with closing(sqlite3.connect(checkout / ".triage/jobs.sqlite")) as jobs:
        jobs.execute("update triage_traffic set response = replace(response, 'overwritten', ?)", [A_KEY])
        jobs.commit()
    made = evals(checkout, "dataset", "new", "carts", "--from-job", "one")

    assert made.code == 3
    assert A_KEY not in made.out + made.err
    assert not (checkout / CASE).exists()
    assert not (checkout / "cassettes/carts.yaml").exists()


def test_a_secret_in_the_issue_is_refused_and_nothing_is_written(checkout, monkeypatch):
    (checkout / "issue.md").write_text(f"# Cart total is wrong\n\nMy key is {A_KEY}.\n")
    a_live_job(monkeypatch)
    made = evals(checkout, "dataset", "new", "carts", "--from-job", "one")

    assert made.code == 2
    assert "at $.body: no secret enters the dataset, nothing was written" in made.err
    assert A_KEY not in made.out + made.err
    assert not (checkout / CASE).exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("carts", "--from-job", "nobody"), "no job is called 'nobody'"),
        (("Carts", "--from-job", "one"), "an id is lower-case letters"),
        (("carts",), "a new case needs --codebase and --archetype, or --from-job or --from-git"),
        (("carts", "--from-job", "one", "--archetype", "odd"), "there is no such archetype"),
    ],
)
def test_what_makes_no_case_is_one_line(words, said, checkout, monkeypatch):
    a_live_job(monkeypatch)
    made = evals(checkout, "dataset", "new", *words)

    assert made.code == 2
    assert said in made.err


@pytest.mark.parametrize("target", ["/etc/hostname", "../secret.py", "cart.py", "."])
def test_a_link_in_the_code_is_left_out_of_the_case(checkout, monkeypatch, target):
    (checkout / "secret.py").write_text("secret = 1\n")
    (checkout / "shop/link.py").symlink_to(target)
    git(checkout / "shop", "add", ".")
    git(checkout / "shop", "commit", "--quiet", "-m", "A link")
    a_live_job(monkeypatch)
    made = evals(checkout, "dataset", "new", "carts", "--from-job", "one")

    assert made.code == 0, made.err
    [code] = (checkout / "datasets/codebases").glob("shop-*")
    assert sorted(path.name for path in code.iterdir() if path.suffix == ".py") == ["cart.py"]


def test_tokens_that_cannot_be_make_no_case(checkout, monkeypatch):
    a_live_job(monkeypatch, "--record")
    with closing(sqlite3.connect(checkout / ".triage/jobs.sqlite")) as jobs:
        jobs.execute("update triage_traffic set response = json_set(response, '$.usage.prompt_tokens', 1e30)")
        jobs.commit()
    made = evals(checkout, "dataset", "new", "carts", "--from-job", "one")

    assert made.code == 3
    assert "usage.prompt_tokens that is no whole number from 0 to 10,000,000; it makes no case" in made.err
    assert not (checkout / CASE).exists()


def test_code_that_a_kill_left_in_part_is_written_whole_for_the_next_case(checkout, monkeypatch):
    a_live_job(monkeypatch)
    evals(checkout, "dataset", "new", "carts", "--from-job", "one")
    (code,) = (checkout / "datasets").rglob("codebases/*-????????????")
    whole = {path.name: path.read_bytes() for path in code.rglob("*") if path.is_file()}
    for name in ("codebase.yaml", "cart.py"):  # what describes it is written last
        next(code.rglob(name)).unlink()

    assert evals(checkout, "dataset", "new", "again", "--from-job", "one").code == 0
    assert {path.name: path.read_bytes() for path in code.rglob("*") if path.is_file()} == whole

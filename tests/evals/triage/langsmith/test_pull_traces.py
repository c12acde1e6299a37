"""`evals langsmith pull --project`: jobs traced in production as candidates for cases, by the real tracer."""

import os

import pytest

from evals.triage.dataset.load_cases import load_cases
from tests.builders.at_once import triage_at_once
from tests.builders.checkout import evals
from tests.builders.dataset import a_dataset, write
from tests.builders.endpoint import a_decision, a_team
from tests.builders.langsmith_server import a_langsmith
from tests.builders.loopback import serving
from tests.builders.secret import PLANTED

QUESTION = "Which database do you use?"
PULL = ("langsmith", "pull", "--project", "live")


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A service with one traced job of two sittings in its project `live`, and the folder it ran in."""
    folder = tmp_path_factory.mktemp("live")
    write(folder / "shop" / "cart.py", "def add(cart, item):\n    cart[item] = 1\n")
    write(folder / "issue.md", "# Carts lose items\n\nTwo of a kind are one.\n")
    team = a_team("investigator", a_decision("human_input", question=QUESTION), "codebase_search", "writer")
    with a_langsmith() as service, serving(team) as url:
        traced = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": service.url, "LANGSMITH_API_KEY": "a key"}
        asked = {"TRIAGE_BASE_URL": url, "TRIAGE_CACHE_DIR": str(folder / "cache")}
        environment = {"PATH": os.environ["PATH"], "LANGSMITH_PROJECT": "live", **traced, **asked}
        job = ("run", "--job-id", "job-1", "--repo", "shop")
        for words in (("--issue", "issue.md", "--prompt", "v3"), ("--resume", "--answer", "MySQL")):
            triage_at_once(*job, *words, cwd=folder, environment=environment).communicate()
        yield service, folder


@pytest.fixture
def service(live, monkeypatch):
    found, _ = live
    monkeypatch.setenv("LANGSMITH_ENDPOINT", found.url)
    monkeypatch.setenv("LANGSMITH_API_KEY", "a key")
    return found


@pytest.fixture
def desk(tmp_path, service):
    """A checkout to make cases in."""
    a_dataset(tmp_path / "checkout" / "datasets")
    return tmp_path / "checkout"


def test_the_jobs_of_a_project_are_listed_each_once(desk):
    said = evals(desk, *PULL)

    assert said.code == 0, said.err
    assert "job-1: Carts lose items (wrote a report)" in said.out
    assert "project live: 1 traced jobs" in said.out


def test_a_traced_job_becomes_a_case_with_its_issue_route_answers_states_and_code(desk, live):
    said = evals(desk, *PULL, "--trace", "job-1", "--case", "carts")

    assert said.code == 0, said.err
    case = load_cases(desk / "datasets")["carts"]
    assert (case.title, case.body) == ("Carts lose items", "Two of a kind are one.")
    assert case.labels.origin.source == "job"
    assert ("investigator", "human_input", "codebase_search", "writer") in case.route_spec.alternatives[0].exemplars
    assert [answer.answer for answer in case.labels.question.answers] == ["MySQL"]
    labels = (desk / "datasets/triage/cases/carts/case.yaml").read_text()
    assert "# - id: decision-0" in labels.replace("#   - id", "# - id").replace("#  - id", "# - id")
    (code,) = (desk / "datasets/codebases").glob("shop-*")
    assert (code / "cart.py").read_text() == (live[1] / "shop" / "cart.py").read_text()
    assert "fill in every" in said.out
    assert "record the case to replay it" in said.out


def test_code_that_is_not_here_is_asked_for(desk, tmp_path, live, monkeypatch):
    for run in live[0].store.runs.values():
        monkeypatch.setitem(run["extra"]["metadata"], "triage_repo", "/nowhere/shop")

    said = evals(desk, *PULL, "--trace", "job-1", "--case", "carts")

    assert (said.code, said.err.count("\n")) == (2, 1), said.err
    assert "give its checkout with --repo" in said.err
    assert evals(desk, *PULL, "--trace", "job-1", "--case", "carts", "--repo", str(live[1] / "shop")).code == 0


def test_a_secret_in_the_issue_refuses_the_case(desk, live, monkeypatch):
    root = next(run for run in live[0].store.runs.values() if not run.get("parent_run_id"))
    monkeypatch.setitem(root["inputs"]["input"], "issue_body", f"With {PLANTED['openai_key']}.")

    said = evals(desk, *PULL, "--trace", "job-1", "--case", "carts")

    assert said.code == 2
    assert "openai_key at $.body: no secret enters the dataset, nothing was written" in said.err
    assert PLANTED["openai_key"] not in said.err
    assert not (desk / "datasets/triage/cases/carts").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--project", "life"), "has no project 'life'"),
        (("--project", "live", "--trace", "job-2", "--case", "carts"), "--trace job-2: no such job"),
        (("--project", "live", "--trace", "job-1", "--case", "wrong-total"), "is there already"),
    ],
)
def test_what_is_not_there_is_one_line_and_2(desk, words, told):
    said = evals(desk, "langsmith", "pull", *words)

    assert (said.code, said.err.count("\n")) == (2, 1), said.err
    assert told in said.err

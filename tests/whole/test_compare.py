"""`evals compare` and `evals gate` on a recorded checkout that is a real git repository."""

import json
import subprocess

import pytest

from tests.builders.checkout import evals

pytestmark = pytest.mark.slow

WHO = ("-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")


@pytest.fixture
def repository(checkout):
    """The checkout with its prompt committed, and edited since."""
    (checkout / ".gitignore").write_text("*\n!mine.md\n!.gitignore\n")
    for words in (("init", "-q"), ("add", "."), (*WHO, "commit", "-qm", "a prompt")):
        subprocess.run(["git", *words], cwd=checkout, check=True)
    prompt = checkout / "mine.md"
    prompt.write_text(prompt.read_text().replace("at each step", "at every step"))
    return checkout


def run_of(checkout, folder="compare"):
    return json.loads((checkout / "reports" / folder / "run.json").read_text())


def test_two_variants_of_a_suite_are_judged_without_a_baseline(checkout):
    said = evals(checkout, "compare", "new", "old", "--suite", "tiny.yaml")

    run = run_of(checkout)
    assert said.code == 0
    assert (run["reference"], run["candidate"]) == ("new", "old")
    assert {item["against"] for item in run["comparisons"]} == {"reference"}


def test_an_edited_prompt_against_its_committed_self_names_both(repository):
    """The committed text is on tape, the edited one is not: 3, and the command that records it."""
    said = evals(repository, "compare", "git:HEAD", "mine.md", "--suite", "tiny.yaml")

    run = run_of(repository)
    sources = [info["prompt_source"] for info in run["variants"]]
    assert said.code == 3
    assert "Cannot judge mine.md: mine.md lost coverage in 2 of 2 trials" in said.out
    assert sources == ["git:HEAD:mine.md", "mine.md"]
    assert run["coverage"]["mine.md@HEAD"]["exact"] == 2


def test_a_prompt_in_another_folder_can_be_compared_though_a_suites_name_is_no_path(checkout):
    (checkout / "drafts").mkdir()
    (checkout / "mine.md").rename(checkout / "drafts" / "mine.md")

    said = evals(checkout, "compare", "old", "./drafts/mine.md", "--suite", "tiny.yaml")

    assert (said.code, run_of(checkout)["suite"]) == (0, "old ._drafts_mine.md")


def test_a_lone_revision_is_compared_with_the_working_tree(repository):
    evals(repository, "compare", "git:HEAD", "--suite", "tiny.yaml")

    run = run_of(repository)
    assert (run["reference"], run["candidate"]) == ("mine.md@HEAD", "mine.md")


def test_the_suite_it_makes_can_be_planned_and_recorded(repository):
    said = evals(repository, "compare", "git:HEAD", "mine.md", "--suite", "tiny.yaml")
    suite = next(iter((repository / ".cache" / "compare").glob("*.yaml"))).relative_to(repository)

    assert f"record SUITE={suite}" in said.out
    assert evals(repository, "plan", str(suite)).code == 3


def test_no_folder_of_the_machine_stands_in_the_result(repository):
    evals(repository, "compare", "git:HEAD", "mine.md", "--suite", "tiny.yaml")

    assert str(repository) not in (repository / "reports" / "compare" / "run.json").read_text()


WRONG = {
    "revision": (("git:nosuch", "old"), "no such revision"),
    "version": (("git:HEAD:v77", "old"), "there is no triage/prompts/supervisor/v77.md"),
    "file": (("gone.md", "old"), "gone.md: no such prompt file"),
    "prompt": (("v77", "old"), "no such supervisor prompt"),
    "one": (("old",), "nothing to compare it with"),
    "same": (("old", "old"), "two variants share a name"),
}


@pytest.mark.parametrize(("words", "cause"), WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_two_and_one_line(repository, words, cause):
    said = evals(repository, "compare", *words, "--suite", "tiny.yaml")

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert cause in said.err


def test_a_stored_run_is_judged_as_it_was(checkout):
    ran = evals(checkout, "run", "tiny.yaml")

    again = evals(checkout, "gate")

    assert (again.code, again.out.splitlines()[-1]) == (ran.code, "exit code 0 (not worse)")
    assert run_of(checkout, "latest")["verdict"]["sentence"] in again.out


def test_a_stored_run_by_a_stricter_policy_is_three(checkout):
    evals(checkout, "run", "tiny.yaml")

    assert evals(checkout, "gate", "--set", "require=equivalence").code == 3


@pytest.mark.parametrize("words", [("nosuch.json",), ("--set", "alpha=3"), ("--set", "require=luck")])
def test_a_wrong_run_or_policy_is_two_and_one_line(checkout, words):
    evals(checkout, "run", "tiny.yaml")

    said = evals(checkout, "gate", *words)

    assert (said.code, said.err.count("\n")) == (2, 1)

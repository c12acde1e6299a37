"""`evals compare` and `evals gate` on a recorded checkout that is a real git repository."""

import json
import shutil
import subprocess

import pytest

from tests.builders.checkout import evals

pytestmark = pytest.mark.slow

WHO = ("-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")


def committed(checkout, message):
    for words in (("add", "."), (*WHO, "commit", "-qm", message)):
        subprocess.run(["git", *words], cwd=checkout, check=True)


@pytest.fixture(scope="module")
def a_repository(story, tmp_path_factory):
    """A recorded checkout with its prompt committed."""
    checkout = shutil.copytree(story[0], tmp_path_factory.mktemp("compared") / "checkout")
    (checkout / ".gitignore").write_text("*\n!mine.md\n!.gitignore\n")
    subprocess.run(["git", "init", "-q"], cwd=checkout, check=True)
    committed(checkout, "a prompt")
    return checkout


@pytest.fixture(scope="module")
def a_blessed_one(a_repository, tmp_path_factory):
    """The same, its suite run and blessed; the baseline is committed too."""
    checkout = shutil.copytree(a_repository, tmp_path_factory.mktemp("blessed") / "checkout")
    (checkout / ".gitignore").write_text("*\n!mine.md\n!.gitignore\n!evals\n!evals/**\n")
    evals(checkout, "run", "tiny.yaml")
    evals(checkout, "bless", "tiny.yaml")
    committed(checkout, "bless")
    return checkout


@pytest.fixture
def repository(a_repository, tmp_path):
    """A copy, its prompt edited since it was committed."""
    checkout = shutil.copytree(a_repository, tmp_path / "checkout")
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


@pytest.fixture
def blessed(a_blessed_one, tmp_path):
    """A copy of the one whose baseline is committed."""
    return shutil.copytree(a_blessed_one, tmp_path / "checkout")


STORED = {
    "a run and a baseline": ("baseline:tiny", "reports/latest/run.json"),
    "a folder and a revision's baseline": ("git:HEAD", "reports/latest"),
    "a baseline of a revision, by variant": ("baseline:tiny/new@HEAD", "reports/latest:new"),
    "a stored file of a revision": ("git:HEAD:evals/suites/baselines/tiny.json", "reports/latest"),
    "a replayed variant": ("baseline:tiny", "new"),
    "a variant and a run": ("new", "reports/latest/run.json:new"),
}


@pytest.mark.parametrize("sides", STORED.values(), ids=STORED.keys())
def test_stored_results_are_compared_in_any_mix(blessed, sides):
    said = evals(blessed, "compare", *sides, "--suite", "tiny.yaml")

    run = run_of(blessed)
    assert said.code == 0, said.err + said.out
    assert {item["delta"] for item in run["comparisons"]} == {0.0}
    assert "differ" not in run["verdict"]["sentence"]


def test_a_revisions_baseline_is_read_from_git(blessed):
    (blessed / "evals" / "suites" / "baselines" / "tiny.json").unlink()

    assert evals(blessed, "compare", "baseline:tiny", "reports/latest").code == 2
    assert evals(blessed, "compare", "git:HEAD", "reports/latest", "--suite", "tiny.yaml").code == 0


def test_a_stored_comparison_can_be_compared_again_and_judged_again(blessed):
    evals(blessed, "compare", "baseline:tiny/new", "reports/latest")

    again = evals(blessed, "compare", "reports/compare/run.json", "reports/latest")

    assert again.code == 0, again.err
    assert evals(blessed, "gate", "reports/compare/run.json", "--set", "require=equivalence").code == 3


WRONG_STORED = {
    "baseline": (("baseline:nosuch", "reports/latest"), "there is no such baseline"),
    "variant": (("baseline:tiny/mew", "reports/latest"), "no variant mew; it has new, old"),
    "revision": (("git:nosuch", "reports/latest"), "no such revision"),
    "outside": (("git:HEAD:../run.json", "reports/latest"), "there is no ../run.json in that revision"),
    "folder": (("baseline:tiny", "reports/gone"), "reports/gone/run.json: cannot be read"),
    "file": (("gone.json", "reports/latest"), "gone.json: cannot be read"),
    "alone": (("baseline:tiny",), "nothing to compare it with"),
    "case": (("baseline:tiny", "reports/latest", "--case", "local-bug"), "--case: stored results"),
    "metric": (("baseline:tiny", "reports/latest", "--metric", "luck"), "none of luck is on every side"),
    "policy": (("baseline:tiny", "reports/latest", "--set", "alpha=3"), "--set alpha=3"),
}


@pytest.mark.parametrize(("words", "cause"), WRONG_STORED.values(), ids=WRONG_STORED.keys())
def test_wrong_use_of_stored_results_is_one_line(blessed, words, cause):
    said = evals(blessed, "compare", *words, "--suite", "tiny.yaml")

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert cause in said.err


def test_result_files_are_compared_where_there_is_no_project(tmp_path):
    rows = [f"case-{n},hit,{int(n > 5)}" for n in range(20)]
    (tmp_path / "main.csv").write_text("\n".join(["case,metric,value", *(f"case-{n},hit,1" for n in range(20))]))
    (tmp_path / "branch.csv").write_text("\n".join(["case,metric,value", *rows]))

    said = evals(tmp_path, "compare", "main.csv", "branch.csv")

    assert said.code == 1
    assert "branch is worse than main: hit -30 points" in said.out
    assert (tmp_path / "reports" / "compare" / "index.html").is_file()


def test_a_file_with_several_variants_is_compared_by_itself(tmp_path):
    rows = [f"case-{n},{name},hit,1" for n in range(20) for name in ("v1", "v2")]
    (tmp_path / "all.csv").write_text("\n".join(["case,variant,metric,value", *rows]))

    said = evals(tmp_path, "compare", "all.csv")

    assert (said.code, "v2 is not shown to be worse than v1" in said.out) == (0, True)
    assert "name one, as in all.csv:v1" in evals(tmp_path, "compare", "all.csv", "all.csv:v2").err


def test_a_loss_of_the_drop_that_a_green_calls_detectable_is_worse(tmp_path):
    """Five cases of one slice: that none passes any more is not tested beside the metric, which says the same."""
    for name, value in (("a", 1), ("same", 1), ("b", 0)):
        rows = "".join(f"c{n},m,{value}\n" for n in range(5))
        (tmp_path / f"{name}.csv").write_text(f"case,metric,value\n{rows}")

    assert "smallest detectable drop: 96 points (m)" in evals(tmp_path, "compare", "a.csv", "same.csv").out
    assert evals(tmp_path, "compare", "a.csv", "b.csv").code == 1


def test_a_difference_of_rounding_in_every_case_is_none(tmp_path):
    for name, value in (("a", 0.5), ("b", 0.5 - 1e-12)):
        rows = "".join(f"c{n},m,{value!r}\n" for n in range(20))
        (tmp_path / f"{name}.csv").write_text(f"case,metric,value\n{rows}")
    said = evals(tmp_path, "compare", "a.csv", "b.csv")

    assert (said.code, "b is not shown to be worse" in said.out) == (0, True)

"""action.yml, each step's shell run as it is written: a fork's pull request, a push, a comment, a drift."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.builders.at_once import program_at_once
from tests.builders.checkout import REPOSITORY
from tests.builders.composite_action import run_action
from tests.builders.git import committed, git
from tests.builders.llm_server import an_llm_server, answering

pytestmark = pytest.mark.slow

INPUTS = {"suite": "tiny.yaml"}
PUSH = {"event_name": "push"}
OUTCOMES = {"Worse (1)", "Cannot judge (3)", "Not run to its end"}
GH = '''#!{python}
"""Pull request 7 and its comments, kept in a file."""
import json, pathlib, sys
words, kept = sys.argv[1:], pathlib.Path("{kept}")
comments = json.loads(kept.read_text()) if kept.exists() else {{}}
if words[:2] == ["run", "download"]:
    folder = pathlib.Path(words[words.index("--dir") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.md").write_text(pathlib.Path("{summary}").read_text())
elif words[-1].startswith("body=@"):
    place = next(word for word in words if word.startswith("repos/"))
    number = str(len(comments) + 1) if "POST" in words else place.rpartition("/")[2]
    comments[number] = pathlib.Path(words[-1].removeprefix("body=@")).read_text()
    kept.write_text(json.dumps(comments))
elif any(word.endswith("/pulls") for word in words):
    print(7)
else:
    print("\\n".join(comments))
'''


def a_pull_request(head):
    return {
        "event_name": "pull_request",
        "event": {"pull_request": {"number": 7, "head": {"repo": {"full_name": head}}}},
    }


@pytest.fixture
def github(tmp_path):
    """A `gh` on the path, and the file of its comments."""
    kept, summary = tmp_path / "comments.json", tmp_path / "summary.md"
    summary.write_text(
        "\n".join(["## Worse", *(f"- reason {n}" for n in range(30)), "", *(f"| row {n} |" for n in range(60))])
    )
    place = tmp_path / "bin" / "gh"
    place.parent.mkdir()
    place.write_text(GH.format(python=sys.executable, kept=kept, summary=summary))
    place.chmod(0o755)
    return {"PATH": f"{place.parent}:/usr/bin:/bin"}, lambda: json.loads(kept.read_text()) if kept.exists() else {}


def ran(checkout, event, around=None, **inputs):
    program = program_at_once("evals", checkout.parent / "evals")
    return run_action(checkout, event, INPUTS | {"evals": str(program)} | inputs, **(around or {}))


def test_a_push_is_judged_and_its_report_and_cache_are_kept(checkout):
    done = ran(checkout, PUSH)

    assert done.outputs == {"code": "0"}
    assert done.red == []
    assert not OUTCOMES & done.steps.keys()
    assert [each["uses"].partition("@")[0] for each in done.used] == ["actions/cache", "actions/upload-artifact"]
    assert (done.used[0]["path"], done.used[1]["path"]) == ("./.cache", "./reports/latest/")
    assert "not shown to be worse" in (checkout.parent / "step-summary").read_text()


def test_a_forks_pull_request_is_judged_without_a_comment(checkout, github):
    around, comments = github
    prompt = checkout / "mine.md"
    prompt.write_text(prompt.read_text() + "Be brief.\n")

    done = ran(checkout, a_pull_request("fork/r"), around, comment="yes")

    assert done.outputs == {"code": "3"}
    assert done.red == ["Cannot judge (3)"]
    assert comments() == {}


def test_the_comment_of_a_pull_request_is_changed_in_place(checkout, github):
    around, comments = github
    ran(checkout, a_pull_request("o/r"), around, comment="yes")
    first = comments()
    prompt = checkout / "mine.md"
    prompt.write_text(prompt.read_text() + "Be brief.\n")

    ran(checkout, a_pull_request("o/r"), around, comment="yes")

    assert first.keys() == comments().keys() == {"1"}
    assert "not shown to be worse" in first["1"].replace("\\", "")
    assert "Cannot judge" in comments()["1"]


def test_a_finished_run_of_a_fork_is_commented_on_in_at_most_40_lines(tmp_path, github):
    around, comments = github
    (tmp_path / "checkout").mkdir()
    event = {"event_name": "workflow_run", "event": {"workflow_run": {"id": 5, "head_sha": "s"}}}

    done = ran(tmp_path / "checkout", event, around, task="comment")
    body = comments()["1"].splitlines()

    assert list(done.steps) == ["Fetch the summary", "Comment, or change the comment of before"]
    assert (done.red, done.used) == ([], [])
    assert body[:2] == ["<!-- evals-report -->", "## Worse"]
    assert len(body) <= 40
    assert body.index("<details><summary>Tables</summary>") < body.index("| row 0 |") < body.index("</details>")
    assert "https://git.example/o/r/actions/runs/5" in body[-1]


def test_a_schedule_asks_the_model_again(checkout):
    with an_llm_server(answering(confidence=0.7)) as llm:
        done = ran(checkout, {"event_name": "schedule"}, {"EVALS_BASE_URL": llm.base_url}, task="drift")

    assert llm.asked
    assert done.outputs["code"] in ("0", "3"), done.out
    assert [each["path"] for each in done.used] == ["./reports/drift/"]


def test_a_worse_run_is_red_in_a_step_of_its_own(checkout):
    stub = checkout / "stub"
    stub.write_text('#!/bin/sh\n[ "$1" != run ] || exit "$CODE"\n')
    stub.chmod(0o755)

    red = {code: ran(checkout, PUSH, {"CODE": code}, evals="./stub").red for code in ("0", "1", "2", "3", "130")}

    assert red == {
        "0": [],
        "1": ["Worse (1)"],
        "2": ["Not run to its end"],
        "3": ["Cannot judge (3)"],
        "130": ["Not run to its end"],
    }


def test_the_baseline_of_another_revision_is_used(checkout):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")
    (baseline,) = checkout.rglob("baselines/tiny.json")
    for words in (("init", "-qb", "main"), ("add", "-f", str(baseline)), (*who, "commit", "-qm", "a baseline")):
        subprocess.run(["git", *words], cwd=checkout, check=True)
    kept = baseline.read_bytes()
    baseline.write_text("edited in the pull request")

    done = ran(checkout, PUSH, baseline="main")
    missing = ran(checkout, PUSH, baseline="main", suite="other.yaml")

    assert baseline.read_bytes() == kept
    assert done.outputs == {"code": "0"}, done.out
    assert missing.red == ["Take the baseline of another revision"]
    assert "main has no baselines/other.json" in missing.out


def test_a_cache_is_not_kept_where_none_is_wanted(checkout):
    shutil.rmtree(checkout / "cassettes")

    done = ran(checkout, PUSH, cache="no")

    assert [each["uses"].partition("@")[0] for each in done.used] == ["actions/upload-artifact"]


def test_no_script_holds_an_expression():
    """A branch called `$(rm -rf .)` would be pasted into it; values come in through the environment."""
    steps = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]

    assert [step for step in steps if "${{" in step.get("run", "")] == []
    assert [step for step in steps if "run" in step and step.get("shell") != "bash"] == []


def test_two_files_that_may_be_the_baseline_of_another_revision_are_not_guessed_from(checkout):
    """The first would replace an example's baseline, and the change would be held against its own."""
    other = checkout / "examples" / "baselines" / "tiny.json"
    other.parent.mkdir(parents=True)
    shutil.copy(checkout / "evals" / "suites" / "baselines" / "tiny.json", other)
    if not (checkout / ".git").exists():
        git(checkout, "init", "-q")
    git(checkout, "add", "-f", ".")
    committed(checkout, "both")

    done = ran(checkout, PUSH, baseline="HEAD")

    assert done.red == ["Take the baseline of another revision"]
    assert "HEAD has 2 files baselines/tiny.json" in done.out


def test_a_project_in_a_subfolder_of_the_repository_is_judged_and_commented_on(tmp_path, checkout, github):
    around, comments = github
    repository = tmp_path / "repository"
    project = Path(shutil.copytree(checkout, repository / "services" / "triage", symlinks=True))
    git(repository, "init", "-q")
    baseline = project / "evals" / "suites" / "baselines" / "tiny.json"
    git(repository, "add", "-f", str(baseline))
    committed(repository, "a baseline")
    kept = baseline.read_bytes()
    baseline.write_text("edited in the pull request")
    where = {"working-directory": "services/triage", "baseline": "HEAD", "comment": "yes"}

    done = ran(repository, a_pull_request("o/r"), around, **where)

    assert (done.outputs, done.red, baseline.read_bytes()) == ({"code": "0"}, [], kept), done.out
    assert [each["path"] for each in done.used] == ["services/triage/.cache", "services/triage/reports/latest/"]
    assert "not shown to be worse" in (repository.parent / "step-summary").read_text()
    assert "not shown to be worse" in comments()["1"].replace("\\", "")
    assert not (repository / "reports").exists()


def test_the_comment_of_a_project_in_a_subfolder_needs_no_checkout(tmp_path, github):
    around, comments = github
    (tmp_path / "empty").mkdir()
    event = {"event_name": "workflow_run", "event": {"workflow_run": {"id": 5, "head_sha": "s"}}}

    done = ran(tmp_path / "empty", event, around, task="comment", **{"working-directory": "services/triage"})

    assert (done.red, list(comments())) == ([], ["1"]), done.out

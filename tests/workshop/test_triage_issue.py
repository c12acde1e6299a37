"""The workflow for issues keeps strangers' text away from what may write, and its steps do what they say."""

import json
import os
import re
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.builders.at_once import program_at_once
from tests.builders.desk import a_desk
from tests.builders.github import PASSER_BY, REPORTER, a_github
from tests.builders.llm_server import an_llm_server, answering, next_stop

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / ".github" / "workflows" / "triage-issue.yml"
TEXT = FILE.read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load(TEXT)
READ, WRITE = WORKFLOW["jobs"]["read"], WORKFLOW["jobs"]["write"]
KEY = "key-of-the" + "-test"


def script(job, name: str) -> str:
    return next(step["run"] for step in job["steps"] if step.get("name") == name)


def everything(job) -> str:
    return json.dumps(job)


def test_it_runs_on_new_issues_and_comments_alone():
    """YAML 1.1 reads the key `on` as true."""
    assert WORKFLOW[True] == {"issues": {"types": ["opened"]}, "issue_comment": {"types": ["created"]}}


def test_what_reads_may_not_write_and_what_writes_has_no_key():
    assert WORKFLOW["permissions"] == {}
    assert READ["permissions"] == {"contents": "read", "issues": "read", "actions": "read"}
    assert WRITE["permissions"] == {"contents": "read", "issues": "write"}
    assert "secrets." in everything(READ)
    assert "secrets." not in everything(WRITE)
    assert "TRIAGE_API_KEY" not in everything(WRITE)


def test_the_key_is_known_to_one_step_alone():
    with_keys = [step["name"] for step in READ["steps"] if "secrets." in json.dumps(step)]

    assert with_keys == ["Triage"]
    assert "secrets." not in json.dumps(READ["env"])


@pytest.mark.parametrize("job", [READ, WRITE], ids=["read", "write"])
def test_no_script_holds_an_expression(job):
    """A title called `$(rm -rf .)` would be pasted into it."""
    assert [step for step in job["steps"] if "${{" in step.get("run", "")] == []


def test_no_text_of_a_stranger_is_named_at_all():
    fields = set(re.findall(r"github\.event\.[\w.]+", TEXT))

    assert fields == {
        "github.event.issue.number",
        "github.event.issue.html_url",
        "github.event.issue.pull_request",
        "github.event.issue.user.type",
        "github.event.issue.user.id",
        "github.event.comment.user.id",
    }


def test_nothing_is_posted_unless_the_repository_says_so():
    assert "vars.TRIAGE_PUBLISH == 'yes'" in WRITE["if"]
    assert "--yes" not in "".join(step.get("run", "") for step in READ["steps"])
    assert "vars.TRIAGE_BASE_URL != ''" in READ["if"]


def test_only_the_reporters_comments_count():
    assert "github.event.comment.user.id == github.event.issue.user.id" in READ["if"]


def test_actions_are_pinned_by_commit():
    used = [step["uses"] for job in (READ, WRITE) for step in job["steps"] if "uses" in step]

    assert len(used) > 5
    assert [each for each in used if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", each)] == []


def test_what_writes_takes_one_file_of_the_same_run():
    (taken,) = [step for step in WRITE["steps"] if "download-artifact" in step.get("uses", "")]

    assert taken["with"] == {"name": "triage-payload"}
    assert WRITE["needs"] == "read"


def test_the_kept_job_is_named_after_its_issue():
    assert READ["env"]["KEPT"] == "triage-issue-${{ github.event.issue.number }}"
    assert READ["env"]["JOB"] == "issue-${{ github.event.issue.number }}"
    assert "github.event.issue.number" in WORKFLOW["concurrency"]["group"]


def test_tokens_are_not_left_in_the_checkout():
    checkouts = [step for job in (READ, WRITE) for step in job["steps"] if "checkout" in step.get("uses", "")]

    assert [step["with"]["persist-credentials"] for step in checkouts] == [False, False]


def run_script(text: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A step as GitHub runs it: bash, stopping at the first error."""
    around = {"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": str(folder), **environment}
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", text],
        cwd=folder,
        env=around,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def an_executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


ARTIFACTS = [
    {"created_at": "2026-05-03T00:00:00Z", "expired": False, "workflow_run": {"id": 3}},
    {"created_at": "2026-05-02T00:00:00Z", "expired": False, "workflow_run": {"id": 2}},
    {"created_at": "2026-05-01T00:00:00Z", "expired": False, "workflow_run": {"id": 1}},
    {"created_at": "2026-05-04T00:00:00Z", "expired": True, "workflow_run": {"id": 4}},
]
OURS = {"path": ".github/workflows/triage-issue.yml", "event": "issues", "head_repository": {"full_name": "shop/carts"}}


@pytest.mark.skipif(not Path("/usr/bin/jq").exists(), reason="needs jq, as `gh --jq` does")
@pytest.mark.parametrize(
    ("runs", "found"),
    [
        ({"3": OURS, "2": OURS, "1": OURS}, "run=3\n"),
        ({"3": OURS | {"event": "pull_request"}, "2": OURS | {"event": "issue_comment"}, "1": OURS}, "run=2\n"),
        ({"3": OURS | {"path": ".github/workflows/evil.yml"}, "2": OURS, "1": OURS}, "run=2\n"),
        ({"3": OURS | {"head_repository": {"full_name": "evil/carts"}}, "2": OURS, "1": OURS}, "run=2\n"),
        ({"3": OURS | {"path": OURS["path"] + "@refs/heads/main"}, "2": OURS, "1": OURS}, "run=3\n"),
        ({n: OURS | {"event": "workflow_dispatch"} for n in "123"}, ""),
    ],
)
def test_an_artifact_of_another_workflow_or_a_fork_is_not_taken(runs, found, tmp_path):
    (tmp_path / "told.json").write_text(json.dumps({"artifacts": ARTIFACTS, "runs": runs}))
    program = (
        "#!/bin/bash\nurl=$(printf '%s\\n' \"$@\" | grep ^repos/); query=${!#}\n"
        'case "$url" in */actions/runs/*) jq -r ".runs[\\"${url##*/}\\"] | $query" told.json ;;\n'
        '*) jq -r "$query" told.json ;; esac\n'
    )
    an_executable(tmp_path / "bin" / "gh", program)
    (tmp_path / "output").touch()
    done = run_script(
        script(READ, "Find the waiting job"),
        tmp_path,
        GH_REPO="shop/carts",
        KEPT="triage-issue-7",
        GITHUB_OUTPUT=str(tmp_path / "output"),
    )

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "output").read_text() == found


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A runner's checkout with `triage` in its .venv, and a GitHub that knows the issue."""
    a_desk(tmp_path, monkeypatch)
    program_at_once("triage", tmp_path / ".venv/bin/triage")
    with a_github() as host:
        yield tmp_path, host


def asking_first(context: str) -> str:
    asked = "\nA: " in context
    return "human_input" if "[1] investigator" in context and not asked else next_stop(context)


class Runner:
    """The jobs of one event, step by step, each with the environment its step names."""

    def __init__(self, folder: Path, host, llm) -> None:
        self.folder, self.host, self.llm = folder, host, llm
        (folder / "summary").touch()

    def step(self, job, name: str, event: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "output").write_text("")
        named = {**job.get("env", {}), **next(each for each in job["steps"] if each.get("name") == name).get("env", {})}
        told = {
            "EVENT": event,
            "ISSUE_URL": self.host.issue,
            "JOB": "issue-7",
            "KEPT": "triage-issue-7",
            "GITHUB_TOKEN": "token-of-the-test",
            "TRIAGE_BASE_URL": self.llm.base_url,
            "TRIAGE_API_KEY": KEY,
            "TRIAGE_TAVILY_API_KEY": "",
        }
        around = {variable: told[variable] for variable in named}
        around |= {"GITHUB_API_URL": self.host.url, "GITHUB_OUTPUT": str(self.folder / "output")}
        around |= {
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "TRIAGE_CACHE_DIR": os.environ["TRIAGE_CACHE_DIR"],
        }
        return run_script(script(job, name), self.folder, **around)

    def outputs(self) -> str:
        return (self.folder / "output").read_text()


@pytest.mark.slow
def test_an_issue_is_asked_about_answered_and_published(desk):
    """Both events, every script of both jobs in their order, against a fake GitHub and a fake model."""
    folder, host = desk
    with an_llm_server(answering(asking_first)) as llm:
        runner = Runner(folder, host, llm)
        done = runner.step(READ, "Triage", "issues")
        assert (done.returncode, runner.outputs()) == (0, "code=4\n"), done.stderr
        assert (folder / ".triage/waiting").exists()
        assert runner.step(READ, "Write what would be posted", "issues").returncode == 0
        assert runner.outputs() == "written=yes\n"
        assert runner.step(READ, "Show it", "issues").returncode == 0
        assert "    question on shop/carts#7:\n      | Which?" in (folder / "summary").read_text()
        assert host.comments == []
        assert runner.step(WRITE, "Post it", "issues").returncode == 0
        assert len(host.comments) == 1

        host.says(PASSER_BY, "MySQL.")
        host.says(REPORTER, "Postgres.")
        done = runner.step(READ, "Triage", "issue_comment")
        assert (done.returncode, runner.outputs()) == (0, "code=0\n"), done.stderr
        assert not (folder / ".triage/waiting").exists()
        assert runner.step(READ, "Write what would be posted", "issue_comment").returncode == 0
        done = runner.step(WRITE, "Post it", "issue_comment")
        assert done.returncode == 0, done.stderr
        assert "**Root cause:**" in host.issues[0]["body"]

        done = runner.step(READ, "Triage", "issue_comment")
        assert (done.returncode, runner.outputs()) == (0, "code=none\n")
    assert set(llm.authorised) == {f"Bearer {KEY}"}
    assert KEY not in (folder / "payload.json").read_text()


@pytest.mark.slow
def test_an_outage_ends_red_and_publishes_nothing(desk):
    folder, host = desk
    with an_llm_server(lambda *_: (500, "application/json", b"{}")) as llm:
        runner = Runner(folder, host, llm)
        done = runner.step(READ, "Triage", "issues")

    assert (done.returncode, runner.outputs()) == (3, "code=3\n")
    lines = done.stdout.splitlines()
    assert lines[0] == f"::stop-commands::{lines[-1].strip(':')}"


def a_payload(**fields) -> dict:
    ticket = {"title": "Cart loses quantities", "body": "It does.", "labels": ["bug"], "assignees": []}
    told = {"version": 1, "kind": "result", "job": "issue-7", "repository": "shop/carts", "number": 7}
    told |= {"mark": "<!-- triage job issue-7 x -->", "since": "2026-05-01T00:00:00Z", "comment": "Found it."}
    return {**told, "ticket": ticket, "grave": [], **fields}


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (a_payload(number=8), "is about shop/carts#8, not about shop/carts#7"),
        (a_payload(repository="evil/carts"), "is about evil/carts#7"),
        (a_payload(comment="Ask @shop/core"), "the comment mentions @shop/core"),
        (a_payload(extra=1), "is no file of `triage publish --to` (extra"),
        (a_payload(mark="<!-- x"), "is no file of `triage publish --to` (mark"),
        (a_payload(comment="x" * 70_000), "is no file of `triage publish --to` (comment"),
        (a_payload(comment="AKIA" + "IOSFODNN7EXAMPLE"), "holds what looks like a secret"),
        ([], "is no file of `triage publish --to`"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_not_posted(payload, said, tmp_path, monkeypatch, capsys):
    from triage.cli import main

    a_desk(tmp_path, monkeypatch)
    (tmp_path / "payload.json").write_text(json.dumps(payload))
    with a_github() as host:
        monkeypatch.setenv("GITHUB_API_URL", host.url)
        assert main(["publish", "--from", "payload.json", "--issue-url", host.issue, "--strict", "--yes"]) == 2
        assert (host.comments, host.issues) == ([], [])
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_good_file_is_posted_once_and_with_labels_of_the_repository(tmp_path, monkeypatch, capsys):
    from triage.cli import main

    a_desk(tmp_path, monkeypatch)
    told = a_payload(comment="Found it.\n\n<!-- triage job issue-7 x -->")
    told["ticket"] |= {"labels": ["bug", "no-such"], "body": "It does.\n\n<!-- triage job issue-7 x -->"}
    (tmp_path / "payload.json").write_text(json.dumps(told))
    with a_github() as host:
        monkeypatch.setenv("GITHUB_API_URL", host.url)
        for _ in range(2):
            assert main(["publish", "--from", "payload.json", "--issue-url", host.issue, "--strict", "--yes"]) == 0
        assert [len(host.comments), len(host.issues)] == [1, 1]
        assert host.issues[0]["labels"] == ["bug"]

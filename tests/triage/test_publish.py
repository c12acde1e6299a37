"""From a GitHub issue and back to it: read by its address, answered once, never unasked, never with a secret."""

import json
import signal
from pathlib import Path

import pytest

from evals.shared.secrets.rule import release
from tests.builders.at_once import triage_at_once
from tests.builders.desk import a_desk, triage_at
from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.forked import Forked
from tests.builders.github import a_github
from tests.builders.llm_server import answering
from tests.builders.secret import PLANTED
from triage.cli import main

OURS = "token-of-the-test"


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A desk, and a GitHub that knows its issue."""
    a_desk(tmp_path, monkeypatch)
    with a_github() as host:
        monkeypatch.setenv("GITHUB_API_URL", host.url)
        monkeypatch.setenv("GITHUB_TOKEN", OURS)
        yield host
    release()


@pytest.fixture
def job(host, monkeypatch):
    """The job `one`, begun from the issue; its folder."""
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", "--repo", "shop", "--issue-url", host.issue, "--job-id", "one") == 0
    return Path(".triage/one")


def test_an_issue_is_read_by_its_address(host, job):
    assert (job / "report.md").read_text().startswith("# Cart total is wrong\n")
    assert host.issue in (job / "report.json").read_text()
    assert set(host.tokens) == {f"Bearer {OURS}"}


@pytest.mark.parametrize(
    ("address", "code", "said"),
    [
        ("{url}/shop/carts", 2, "is no issue; give its address"),
        ("{url}/shop/carts/issues/8", 2, "is a pull request"),
        ("{url}/shop/carts/issues/9", 2, "HTTP 404 (no); not found, or GITHUB_TOKEN may not see it"),
        ("https://example.com/shop/carts/issues/7", 2, "set GITHUB_API_URL to the interface of example.com"),
    ],
)
def test_what_is_no_issue_is_one_line(address, code, said, host, monkeypatch, capsys):
    with triage_at(monkeypatch) as (triage, llm):
        assert triage("run", "--repo", "shop", "--issue-url", address.format(url=host.url)) == code

    assert said in capsys.readouterr().err
    assert llm.asked == []


def test_a_host_that_fails_is_an_outage(host, monkeypatch, capsys):
    host.refuse = lambda *_: 502
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", "--repo", "shop", "--issue-url", host.issue) == 3

    assert "HTTP 502 (no); try it again later" in capsys.readouterr().err


PORTAL = (b"<html>please sign in</html>", b"{}", b"[1]", b"null", b"")


@pytest.mark.parametrize("content", PORTAL)
def test_an_issue_that_is_none_though_the_status_is_good_is_one_line(content, host, monkeypatch, capsys):
    host.garble = lambda *_: content
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", "--repo", "shop", "--issue-url", host.issue) == 3

    assert capsys.readouterr().err.strip().endswith("HTTP 200, but no answer of GitHub's")


@pytest.mark.parametrize("content", PORTAL)
def test_what_was_posted_and_never_confirmed_is_found_by_the_next_try(content, host, job, capsys):
    host.garble = lambda method, _: content if method == "POST" else None
    assert main(["publish", "one", "--yes"]) == 3
    assert "it may have been posted all the same, the next try looks first" in capsys.readouterr().err

    host.garble = lambda *_: None
    assert main(["publish", "one", "--yes"]) == 0
    assert (len(host.comments), len(host.issues)) == (1, 1)


@pytest.mark.parametrize("content", PORTAL)
def test_a_list_that_is_none_posts_nothing(content, host, job, capsys):
    host.garble = lambda *_: content

    assert main(["publish", "one", "--yes"]) == 3
    assert (host.comments, host.issues) == ([], [])


def test_nothing_is_posted_unasked(host, job, capsys):
    assert main(["publish", "one"]) == 0

    told = capsys.readouterr().out
    assert "comment on shop/carts#7:\n  | ## Triage" in told
    assert "ticket in shop/carts: Cart loses quantities" in told
    assert told.endswith("nothing was posted: --yes does it\n")
    assert host.comments == host.issues == []


def test_comment_and_ticket_are_posted_once(host, job, capsys):
    assert main(["publish", "one", "--yes"]) == 0
    assert main(["publish", "one", "--yes"]) == 0

    assert [len(host.comments), len(host.issues)] == [1, 1]
    assert host.comments[0]["body"].startswith("## Triage")
    assert "**Root cause:** Quantities are overwritten." in host.issues[0]["body"]
    assert "(was there)" in capsys.readouterr().out


def test_what_was_posted_is_found_behind_many_others(host, job):
    host.comments += [{"body": "me too", "html_url": "x"}] * 5
    main(["publish", "one", "--yes"])
    main(["publish", "one", "--yes"])

    assert len(host.comments) == 6


def test_a_ticket_that_is_refused_costs_no_second_comment(host, job, capsys):
    host.refuse = lambda method, path: 422 if (method, path) == ("POST", "/repos/shop/carts/issues") else None
    assert main(["publish", "one", "--yes"]) == 2
    host.refuse = lambda *_: None
    assert main(["publish", "one", "--yes"]) == 0

    assert [len(host.comments), len(host.issues)] == [1, 1]


@pytest.mark.slow
def test_a_publishing_that_is_killed_before_it_heard_back_posts_nothing_twice(host, job, monkeypatch):
    running: list[Forked] = []
    host.posted = lambda path: running[0].send_signal(signal.SIGKILL) if path.endswith("comments") else None
    running.append(triage_at_once("publish", "one", "--yes"))
    assert running[0].wait() == -signal.SIGKILL
    assert [len(host.comments), len(host.issues)] == [1, 0]

    host.posted = lambda _path: None
    assert main(["publish", "one", "--yes"]) == 0
    assert [len(host.comments), len(host.issues)] == [1, 1]


def test_another_job_of_the_same_name_is_another_job(host, job, monkeypatch):
    main(["publish", "one", "--yes"])
    main(["jobs", "delete", "one"])
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", "--issue-url", host.issue, "--job-id", "one")
    main(["publish", "one", "--yes"])

    assert len(host.comments) == 2


@pytest.mark.parametrize("secret", [PLANTED["aws_key"], OURS], ids=["of a known kind", "of this process"])
def test_a_secret_is_withheld_with_all_the_rest(secret, host, job, capsys):
    with (job / "comment.md").open("a") as comment:
        comment.write(f"\nIt logs in with {secret}.\n")

    assert main(["publish", "one", "--yes"]) == 2
    told = capsys.readouterr()
    assert "comment.md: holds what looks like a secret" in told.err
    assert secret not in told.out + told.err
    assert host.comments == host.issues == []


def test_what_was_edited_is_what_is_posted(host, job):
    (job / "comment.md").write_text("Thank you, we have found it.\n")
    main(["publish", "one", "--yes"])

    assert host.comments[0]["body"].startswith("Thank you, we have found it.")


@pytest.fixture
def a_rejected_job(host, monkeypatch):
    """The job `one`, whose report the critic rejected; its folder."""
    critic = {**WORKER_REPLIES["critic"], "verdict": "CHALLENGED", "gaps": ["no line named"]}
    with triage_at(monkeypatch, answering(critic=critic)) as (triage, _):
        arguments = ("--issue-url", host.issue, "--job-id", "one", "--max-iterations", "3")
        assert triage("run", "--repo", "shop", *arguments) == 5
    return Path(".triage/one")


def test_a_report_that_rests_on_too_little_is_not_posted_without_force(host, a_rejected_job, capsys):
    capsys.readouterr()
    assert main(["publish", "one", "--yes"]) == 5

    told = capsys.readouterr().err.strip()
    assert "the report rests on too little: The critic rejected the findings (CHALLENGED)" in told
    assert told.endswith("Nothing was posted: --yes --force posts it")
    assert "\n" not in told
    assert host.comments == host.issues == []


@pytest.mark.parametrize("edited", [False, True])
def test_what_is_forced_carries_its_limits_at_the_top(edited, host, a_rejected_job, capsys):
    """Of files that were edited as well, and of those an older version wrote without them."""
    if edited:
        (a_rejected_job / "comment.md").write_text("We have found it.\n")
        (a_rejected_job / "report.md").write_text("# Cart total is wrong\n")
    assert main(["publish", "one"]) == 0
    assert "nothing was posted: --yes --force does it" in capsys.readouterr().out
    assert main(["publish", "one", "--yes", "--force"]) == 0

    for [text] in (host.comments, host.issues):
        assert text["body"].count("The critic rejected the findings (CHALLENGED)") == 1
        assert "Limits of this report" in text["body"].partition("**Root cause:**")[0].partition("## Triage")[0]


def test_a_file_of_what_would_be_posted_carries_the_limits_as_well(host, a_rejected_job, tmp_path):
    assert main(["publish", "one", "--to", str(tmp_path / "posts.json")]) == 0

    told = json.loads((tmp_path / "posts.json").read_text())
    for text in (told["comment"], told["ticket"]["body"]):
        assert text.count("The critic rejected the findings (CHALLENGED)") == 1
    assert host.comments == host.issues == []


def test_a_file_with_grave_caveats_is_not_posted_without_force(host, a_rejected_job, tmp_path, capsys):
    file = str(tmp_path / "posts.json")
    assert main(["publish", "one", "--to", file]) == 0
    capsys.readouterr()

    assert main(["publish", "--from", file, "--issue-url", host.issue, "--yes"]) == 5
    told = capsys.readouterr().err.strip()
    assert "the report rests on too little: The critic rejected the findings (CHALLENGED)" in told
    assert told.endswith("Nothing was posted: --yes --force posts it")
    assert "\n" not in told
    assert host.comments == host.issues == []
    assert main(["publish", "--from", file, "--issue-url", host.issue, "--yes", "--force"]) == 0
    assert len(host.comments) == len(host.issues) == 1


def test_a_file_that_does_not_tell_its_caveats_needs_force(host, job, tmp_path, capsys):
    """As an older version wrote it."""
    file = tmp_path / "posts.json"
    assert main(["publish", "one", "--to", str(file)]) == 0
    told = json.loads(file.read_text())
    assert told.pop("grave") == []
    file.write_text(json.dumps(told))
    capsys.readouterr()

    assert main(["publish", "--from", str(file), "--issue-url", host.issue, "--yes"]) == 5
    assert "does not tell its caveats" in capsys.readouterr().err
    assert host.comments == host.issues == []
    assert main(["publish", "--from", str(file), "--issue-url", host.issue, "--yes", "--force"]) == 0


def test_a_file_of_a_sound_report_needs_no_force(host, job, tmp_path):
    file = str(tmp_path / "posts.json")
    assert main(["publish", "one", "--to", file]) == 0

    assert main(["publish", "--from", file, "--issue-url", host.issue, "--yes"]) == 0
    assert len(host.comments) == 1


def test_a_job_without_an_address_wants_one(host, monkeypatch, capsys):
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", "--issue", "issue.md", "--job-id", "two")
        assert triage("publish", "two") == 2
        assert "job 'two' knows no address of its issue: give --issue-url" in capsys.readouterr().err
        assert triage("publish", "two", "--issue-url", host.issue) == 0


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("comment.md", None, "comment.md: cannot be read"), ("ticket.json", "{}", "ticket.json: is no ticket any more")],
)
def test_files_that_cannot_be_posted_are_one_line(name, text, said, host, job, capsys):
    (job / name).unlink() if text is None else (job / name).write_text(text)

    assert main(["publish", "one", "--yes"]) == 2
    assert said in capsys.readouterr().err
    assert host.comments == host.issues == []

"""GitHub's ordinary refusals are told with a remedy, and nothing is posted twice."""

import json
from pathlib import Path

import pytest

from tests.builders.desk import a_desk, triage_at
from tests.builders.github import a_github, a_rate_limit, an_invalid
from triage.cli import main

ISSUES = ("POST", "/repos/shop/carts/issues")
OURS = "token-of-the-test"


@pytest.fixture
def host(tmp_path, monkeypatch):
    a_desk(tmp_path, monkeypatch)
    with a_github() as host:
        monkeypatch.setenv("GITHUB_API_URL", host.url)
        monkeypatch.setenv("GITHUB_TOKEN", OURS)
        yield host


@pytest.fixture
def job(host, monkeypatch):
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", "--repo", "shop", "--issue-url", host.issue, "--job-id", "one") == 0
    return Path(".triage/one")


def edit_ticket(folder: Path, **fields) -> None:
    told = json.loads((folder / "ticket.json").read_text())
    (folder / "ticket.json").write_text(json.dumps({**told, **fields}))


def refusing(*request, refused):
    return lambda method, path: refused if (method, path) == request else None


def test_an_assignee_that_does_not_exist_is_named_and_can_be_left_out(host, job, capsys):
    edit_ticket(job, assignee="ghost")

    assert main(["publish", "one", "--yes"]) == 2
    said = capsys.readouterr().err
    assert "field assignees 'ghost': invalid; publish again with --no-assignee" in said
    assert main(["publish", "one", "--yes", "--no-assignee"]) == 0
    assert (len(host.comments), len(host.issues)) == (1, 1)
    assert "assignees" not in host.issues[0]


@pytest.mark.parametrize("assignee", ["jane doe", "@jane", "-x"])
def test_an_assignee_that_is_no_login_is_refused_before_anything_is_posted(assignee, host, job, capsys):
    edit_ticket(job, assignee=assignee)

    assert main(["publish", "one", "--yes"]) == 2
    assert "--no-assignee leaves it out" in capsys.readouterr().err
    assert host.comments == []


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (an_invalid("title", "x"), "field title 'x': invalid; edit the title in ticket.json"),
        ((422, {"message": "Validation Failed", "errors": ["odd"]}, {}), "; odd"),
        ((422, {"message": "Validation Failed"}, {}), "GitHub does not accept the text"),
        ((401, {"message": "Bad credentials"}, {}), "(Bad credentials); GITHUB_TOKEN is wrong or has expired"),
        ((403, {"message": "Resource not accessible by integration"}, {}), "it has to allow writing issues"),
        ((410, {"message": "Issues are disabled for this repo"}, {}), "issues are switched off there"),
    ],
)
def test_a_refusal_names_the_field_and_a_remedy(refused, said, host, job, capsys):
    host.refuse = refusing(*ISSUES, refused=refused)

    assert main(["publish", "one", "--yes"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (a_rate_limit(retry_after="90"), "try again in 90 seconds"),
        (a_rate_limit(429, retry_after="7"), "try again in 7 seconds"),
        (a_rate_limit(x_ratelimit_remaining="0", x_ratelimit_reset="1800000000"), "after 2027-01-15 08:00:00 UTC"),
        (a_rate_limit(), "in a minute or more"),
        (a_rate_limit(429, retry_after="soon"), "in a minute or more"),
        (a_rate_limit(429, x_ratelimit_remaining="0", x_ratelimit_reset="9" * 40), "in a minute or more"),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(limit, said, host, job, capsys):
    host.refuse = refusing(*ISSUES, refused=limit)

    assert main(["publish", "one", "--yes"]) == 3
    assert f"GitHub's rate limit: try again {said.removeprefix('try again ')}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("token", "said"), [(OURS, "GITHUB_TOKEN may not see it"), ("", "it is private: set GITHUB_TOKEN")]
)
def test_a_private_repository_is_not_found_and_told_as_such(token, said, host, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_TOKEN", token)

    assert main(["run", "--repo", "shop", "--issue-url", f"{host.url}/shop/secret/issues/1"]) == 2
    assert f"not found, or {said}" in capsys.readouterr().err


def test_a_renamed_repository_is_followed_and_told(host, monkeypatch, capsys):
    host.renamed = "shop/old"
    with triage_at(monkeypatch) as (triage, _):
        url = f"{host.url}/shop/old/issues/7"
        assert triage("run", "--repo", "shop", "--issue-url", url, "--job-id", "one") == 0
        assert triage("publish", "one", "--issue-url", url, "--yes") == 0

    assert capsys.readouterr().err.count("was renamed or moved") == 2
    assert (len(host.comments), len(host.issues)) == (1, 1)


def test_a_redirect_to_another_host_gets_no_token(host, monkeypatch, capsys):
    with a_github() as other:
        moved = (301, {}, {"location": f"{other.url}/repos/shop/carts/issues/7"})
        host.refuse = refusing("GET", "/repos/shop/carts/issues/7", refused=moved)
        assert main(["run", "--repo", "shop", "--issue-url", host.issue]) == 3

        assert other.tokens == []
    assert "leads to another host" in capsys.readouterr().err


def test_a_redirect_without_an_end_is_one_line(host, capsys):
    host.refuse = lambda _method, path: (301, {}, {"location": f"{host.url}{path}"})

    assert main(["run", "--repo", "shop", "--issue-url", host.issue]) == 3
    assert len(host.asked) < 10


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://github.example/api/v3", "is not https://"),
        ("http://10.0.0.5", "is not https://"),
        ("ftp://127.0.0.1", "is not https://"),
        ("https://user" + ":word@github.example", "holds a login"),
    ],
)
def test_a_token_is_not_sent_in_clear_text(url, said, host, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_API_URL", url)

    assert main(["run", "--repo", "shop", "--issue-url", f"{url}/shop/carts/issues/7"]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "word" not in told


def test_what_was_posted_is_remembered_and_told(host, job, capsys):
    main(["publish", "one", "--yes"])
    first = capsys.readouterr().out
    host.comments.clear()
    host.issues.clear()
    host.asked.clear()
    assert main(["publish", "one", "--yes"]) == 0

    assert capsys.readouterr().out == first.replace("\n", " (was there)\n")
    assert host.asked == []
    assert (host.comments, host.issues) == ([], [])
    main(["jobs", "show", "one"])
    assert capsys.readouterr().out.count(f"  posted: {host.url}/shop/carts/issues") == 2


def test_a_ticket_gets_labels_of_the_repository_only(host, job, capsys):
    edit_ticket(job, labels=["Bug", "severity/critical", "@everyone"])
    assert main(["publish", "one", "--yes"]) == 0

    assert host.issues[0]["labels"] == ["bug"]
    said = capsys.readouterr().err
    assert "label 'severity/critical' is left out: the repository has no such label" in said


def test_labels_beyond_the_first_page_are_known(host, job):
    host.labels += ["area/cart", "area/till"]
    edit_ticket(job, labels=["area/till"])
    main(["publish", "one", "--yes"])

    assert host.issues[0]["labels"] == ["area/till"]


@pytest.mark.parametrize(("option", "counts"), [("--comment-only", (1, 0)), ("--ticket-only", (0, 1))])
def test_comment_or_ticket_alone_can_be_posted(option, counts, host, job):
    assert main(["publish", "one", "--yes", option]) == 0
    assert (len(host.comments), len(host.issues)) == counts

    assert main(["publish", "one", "--yes"]) == 0
    assert (len(host.comments), len(host.issues)) == (1, 1)


@pytest.mark.parametrize(
    "words", [[], ["one", "--comment-only", "--ticket-only"], ["--from", "x"], ["one", "--from", "x"]]
)
def test_options_that_do_not_fit_are_one_line(words, host, capsys):
    assert main(["publish", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("text", ["Ask @shop/core.", "![x](http://e.invalid/i.png)", "a\u200bb", "<!-- obey -->"])
def test_a_strict_publishing_refuses_text_that_acts_on_others(text, host, job, capsys):
    (job / "comment.md").write_text(text)

    assert main(["publish", "one", "--yes", "--strict"]) == 2
    assert "Nothing was posted" in capsys.readouterr().err
    assert host.comments == []


def test_the_dry_run_lists_whom_a_text_notifies(host, job, capsys):
    (job / "comment.md").write_text("Ask @shop/core, see ![x](http://e.invalid/i.png) and https://e.invalid/.\n")
    main(["publish", "one", "--comment-only"])

    told = capsys.readouterr().out
    assert "  mentions (GitHub notifies them): @shop/core\n" in told
    assert "  images: http://e.invalid/i.png\n" in told
    assert "  links: https://e.invalid/.\n" in told

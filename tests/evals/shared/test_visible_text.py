"""Text of strangers is shown with its unseen characters spelled out, wherever `triage` prints it."""

import json
import logging
from pathlib import Path

import pytest

from evals.shared.display_text import hidden_in, one_line, visible
from tests.builders.desk import NEW, a_desk, triage_at
from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.github import a_github
from tests.builders.llm_server import answering
from triage import terminal_screen as log
from triage.cli import main

UNSEEN = (
    "\x1b]52;c;ZXZpbA==\x07 \x1b[8mconcealed\x1b[0m \x9b31m \x7f \u202egnp \u2066x\u2069 a\u200db \ufeff \U000e0041"
)
RAW = {char for char in UNSEEN if not char.isprintable()} | {"\u200d"}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    yield a_desk(tmp_path, monkeypatch)
    log.LOGGER.handlers.clear()
    log.LOGGER.setLevel(logging.NOTSET)
    log.LOGGER.propagate = True


def hostile(**more):
    """Answers of a team whose model repeats what the issue told it to say."""
    said = {name: reply | {"summary": UNSEEN} for name, reply in WORKER_REPLIES.items() if isinstance(reply, dict)}
    said = {name: reply for name, reply in said.items() if "confidence" in reply and name in ("investigator", "critic")}
    investigator = said["investigator"] | {"hypothesis": UNSEEN, "affected_areas": [UNSEEN]}
    comment = f"## Triage\n{UNSEEN}"
    ticket = {"title": UNSEEN, "labels": [], "assignee": None, "effort": "S"}
    told = {"investigator": investigator, "critic": said["critic"], "writer-comment": comment, "writer-ticket": ticket}
    return answering(**{**told, **more})


def no_raw(capsys) -> str:
    told = capsys.readouterr()
    assert not RAW & set(told.out + told.err)
    return told.out + told.err


@pytest.mark.parametrize("said", ["", "--verbose"])
def test_progress_shows_escapes_and_does_not_send_them(said, desk, monkeypatch, capsys):
    Path("issue.md").write_text(f"# Wrong {UNSEEN}\n\nIt is {UNSEEN}\n")
    with triage_at(monkeypatch, hostile()) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, *([said] if said else [])) == 0

    assert "␛]52;c;" in no_raw(capsys)


def test_the_list_of_jobs_shows_them(desk, monkeypatch, capsys):
    Path("issue.json").write_text(json.dumps({"title": f"Wrong\njob-0  forged {UNSEEN}", "body": "x"}))
    with triage_at(monkeypatch, hostile()) as (triage, _):
        triage("run", "--repo", "shop", "--issue", "issue.json", "--job-id", "one")
    capsys.readouterr()

    main(["jobs"])
    assert len(no_raw(capsys).splitlines()) == 1
    main(["jobs", "show", "one"])
    assert "␛[8mconcealed" in no_raw(capsys)


def test_a_question_shows_them(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, answering(lambda context: "human_input")) as (triage, llm):
        sound = llm.answer

        def asking(agent, body):
            status, kind, content = sound(agent, body)
            told = content.decode().replace("Which?", "Which" + json.dumps(json.dumps(UNSEEN)[1:-1])[1:-1] + "?")
            return status, kind, told.encode()

        llm.answer = asking
        triage("run", "--repo", "shop", *NEW)

    assert "Question: Which␛]52;c;" in no_raw(capsys)


def test_the_dry_run_of_publish_shows_them(desk, monkeypatch, capsys):
    with a_github() as host, triage_at(monkeypatch, hostile()) as (triage, _):
        monkeypatch.setenv("GITHUB_API_URL", host.url)
        triage("run", "--repo", "shop", "--issue-url", host.issue, "--job-id", "one")
        capsys.readouterr()
        assert triage("publish", "one") == 0

    told = no_raw(capsys)
    assert "  | ␛]52;c;ZXZpbA==␇ ␛[8mconcealed␛[0m" in told
    assert "hidden characters or remarks:" in told


def test_an_error_shows_them_on_one_line(desk, capsys):
    assert main(["run", "--repo", "shop", "--issue", f"{UNSEEN}\nno.md"]) == 2

    assert len(no_raw(capsys).splitlines()) == 1


def test_the_log_shows_them(desk, capsys):
    log.show()
    log.LOGGER.info("asked: %s", UNSEEN)

    assert "␛]52;c;" in no_raw(capsys)


@pytest.mark.parametrize("text", ["👩‍💻 größer", "ক\u200cখ", "1\ufe0f\u20e3", "tab\tand\nline"])
def test_ordinary_text_stays_as_it_is(text):
    assert visible(text) == text
    assert hidden_in(text) == 0


@pytest.mark.parametrize(
    "text", ["a\u200db", "a\u200d\u200db", "x\u034fy", "x\u3164y", "e\ufe01", "e\U000e0101", "\u00ad"]
)
def test_characters_without_a_glyph_are_counted_as_hidden(text):
    assert hidden_in(text) >= 1
    assert "⟨U+" in visible(text)


def test_one_line_holds_no_line_break():
    assert one_line("a\nb\r\nc\u2028d\x0be") == "a b c d e"

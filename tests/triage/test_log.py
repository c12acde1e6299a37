"""What is asked of whom is logged where it is wanted, and no secret with it."""

import logging

import pytest

from tests.builders.desk import NEW, a_desk, triage_at
from tests.builders.llm_server import answering
from tests.builders.unruly import only, refusing
from triage.log import LOGGER

ROUTE = ("investigator", "web_search", "codebase_search", "critic", "writer")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    yield a_desk(tmp_path, monkeypatch)
    LOGGER.handlers.clear()
    LOGGER.setLevel(logging.NOTSET)
    LOGGER.propagate = True


def test_a_verbose_job_says_what_is_asked_of_whom_and_how_long_it_took(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, answering(route=ROUTE)) as (triage, llm):
        triage("run", "--repo", "shop", *NEW, "--verbose")

    told = capsys.readouterr().err
    assert f"INFO asked: POST {llm.base_url}/chat/completions for investigator" in told
    assert f"INFO asked: POST {llm.search_url}/search" in told
    assert "INFO HTTP 200 after 0." in told


def test_an_answer_that_refuses_is_logged_as_well(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, only(["critic"], refusing(500))) as (triage, _):
        triage("run", "--repo", "shop", *NEW, "--verbose")

    assert "INFO HTTP 500 after 0." in capsys.readouterr().err


def test_no_key_is_logged(desk, monkeypatch, capsys):
    monkeypatch.setenv("TRIAGE_API_KEY", "key-of-the-test")
    with triage_at(monkeypatch) as (triage, llm):
        monkeypatch.setenv("TRIAGE_BASE_URL", llm.base_url.replace("http://", "http://user:word-of-the-test@"))
        triage("run", "--repo", "shop", *NEW, "--verbose")

    logged = [line for line in capsys.readouterr().err.splitlines() if " INFO " in line]
    assert logged
    assert not [line for line in logged if "of-the-test" in line]


def test_a_job_that_is_not_verbose_logs_nothing(desk, monkeypatch, capsys):
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", *NEW)

    assert "asked: POST" not in capsys.readouterr().err

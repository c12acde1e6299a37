"""What is asked of whom is logged where it is wanted, and no secret with it."""

import pytest

from tests.builders.desk import NEW, a_desk, triage_at
from tests.builders.llm_server import answering
from tests.builders.unruly import only, refusing, resetting, saying

ROUTE = ("investigator", "web_search", "codebase_search", "critic", "writer")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return a_desk(tmp_path, monkeypatch)


def test_a_verbose_job_says_what_is_asked_of_whom_and_how_long_it_took(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, answering(route=ROUTE)) as (triage, llm):
        triage("run", "--repo", "shop", *NEW, "--verbose")

    told = capsys.readouterr().err
    assert f"INFO asked: POST {llm.base_url}/chat/completions for investigator" in told
    assert f"INFO asked: POST {llm.search_url}/search" in told
    assert "INFO HTTP 200 after 0." in told


@pytest.mark.parametrize("login", ["", "user:word-of-the-test@"], ids=["in a header", "in the address"])
def test_no_key_is_logged(login, desk, monkeypatch, capsys):
    monkeypatch.setenv("TRIAGE_API_KEY", "key-of-the-test")
    with triage_at(monkeypatch) as (triage, llm):
        monkeypatch.setenv("TRIAGE_BASE_URL", llm.base_url.replace("http://", f"http://{login}"))
        triage("run", "--repo", "shop", *NEW, "--verbose")

    logged = [line for line in capsys.readouterr().err.splitlines() if " INFO " in line]
    assert logged
    assert not [line for line in logged if "of-the-test" in line]


@pytest.mark.parametrize("fault", [refusing(400), resetting], ids=["refused", "cut"])
def test_what_fails_is_logged_as_well(fault, tmp_path, monkeypatch, caplog):
    a_desk(tmp_path, monkeypatch)
    with caplog.at_level("INFO", "triage"), triage_at(monkeypatch, only(["critic"], fault)) as (triage, _):
        triage("run", "--repo", "shop", *NEW)

    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warned[-1].startswith("agent critic failed: ")
    assert ("for critic" in warned[0]) == (fault is resetting)  # nothing but the failure tells of a request cut off


def test_an_invalid_decision_is_logged_with_its_attempt(tmp_path, monkeypatch, caplog):
    a_desk(tmp_path, monkeypatch)
    rubbish = saying({"choices": [{"index": 0, "message": {"role": "assistant", "content": "No."}}]})
    with caplog.at_level("INFO", "triage"), triage_at(monkeypatch, only(["supervisor"], rubbish)) as (triage, _):
        triage("run", "--repo", "shop", *NEW)

    told = [(record.levelname, record.getMessage()[:22]) for record in caplog.records if "attempt" in record.msg]
    assert told[:2] == [("WARNING", "supervisor, attempt 1:"), ("ERROR", "supervisor, attempt 2:")]


@pytest.mark.parametrize("how", ["--verbose", "--quiet"])
def test_the_log_of_one_job_is_not_left_to_the_next(how, desk, monkeypatch, capsys):
    """The second of these would read what a handler of the first, whose stderr is closed, has to say of that."""
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", *NEW, how)

    told = capsys.readouterr().err
    assert "--- Logging error ---" not in told
    assert ("asked: POST" in told) == (how == "--verbose")

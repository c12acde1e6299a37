"""An endpoint that fails: one line that says what came from where, exit 3, and a job that goes on later."""

import json
from datetime import timedelta

import httpx2
import pytest

from tests.builders.desk import AGAIN, NEW, a_desk, triage_at
from tests.builders.llm_server import answering
from tests.builders.unruly import a_web_page, hanging, only, refusing, resetting, saying
from triage.job_model_requests import Account
from triage.supervisors import SUPERVISORS

NO_COMPLETIONS = {
    "a web page": (a_web_page, "a web page (is /v1 missing in the base URL?), which is no completion"),
    "an error": (saying({"error": {"message": "quota"}}), '{"error": {"message": "quota"}}, which is no completion'),
    "no choices": (saying({"choices": []}), '{"choices": []}, which is no completion'),
    "null choices": (saying({"choices": None}), '{"choices": null}, which is no completion'),
    "a call that is null": (
        saying({"choices": [{"message": {"tool_calls": [None]}}]}),
        '{"choices": [{"message": {"tool_calls": [null]}}]}, which is no completion',
    ),
    "half a body": (lambda *_: (200, "application/json", b'{"choi'), '{"choi, which is no completion'),
}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return a_desk(tmp_path, monkeypatch)


@pytest.mark.parametrize("supervisor", ["llm", "rules", "registry", "plan-fixed"])
@pytest.mark.parametrize("came", NO_COMPLETIONS)
def test_an_answer_that_is_no_completion_is_one_line(came, supervisor, desk, monkeypatch, capsys):
    answer, said = NO_COMPLETIONS[came]
    with triage_at(monkeypatch, answer) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW, "--supervisor", supervisor) == 3

    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert f"the endpoint failed ({llm.base_url}/chat/completions answered {said})" in last


@pytest.mark.parametrize(
    "fault", [refusing(401), refusing(500), refusing(429), resetting], ids=["401", "500", "429", "cut"]
)
@pytest.mark.parametrize("supervisor", SUPERVISORS)
def test_an_endpoint_that_answers_nobody_is_an_outage_and_no_doubt_of_the_users(
    supervisor, fault, desk, monkeypatch, capsys
):
    monkeypatch.setenv("TRIAGE_RETRY_JITTER", "false")
    with triage_at(monkeypatch, fault) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, "--supervisor", supervisor, typed="I do not know\n") == 3

    told = capsys.readouterr().err
    assert "the endpoint failed (" in told
    assert "Question:" not in told


def test_a_dead_endpoint_under_the_rules_is_an_outage_at_the_first_visit(desk, monkeypatch, capsys):
    with triage_at(monkeypatch) as (triage, _):
        monkeypatch.setenv("TRIAGE_BASE_URL", "http://127.0.0.1:9/v1")  # the discard port: nobody listens there
        assert triage("run", "--repo", "shop", *NEW, "--supervisor", "rules") == 3
    assert "the endpoint failed (Connection error. http://127.0.0.1:9/v1" in capsys.readouterr().err

    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", *AGAIN, "--repo", "shop", typed="I do not know\n") == 5  # the team is unsure
    assert json.loads((desk / ".triage/one/report.json").read_text())["agent_errors"] == []


def test_a_wrong_key_names_the_variable(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, refusing(401)) as (triage, _):
        triage("run", "--repo", "shop", *NEW, "--supervisor", "rules")

    assert "is TRIAGE_API_KEY right?" in capsys.readouterr().err


def test_an_endpoint_that_goes_down_on_the_way_is_an_outage_under_the_rules(desk, monkeypatch, capsys):
    down = only(("codebase_search", "web_search", "critic", "writer"), refusing(500))
    with triage_at(monkeypatch, down) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, "--supervisor", "rules", typed="I do not know\n") == 3

    assert "Question:" not in capsys.readouterr().err


def test_one_agent_that_fails_is_no_outage(desk, monkeypatch):
    with triage_at(monkeypatch, only(["critic"], refusing(500), answering())) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW) == 0

    assert "writer" in llm.asked


def test_one_service_that_is_down_is_no_outage(desk, monkeypatch):
    monkeypatch.setenv("TRIAGE_AGENT_URLS", '{"critic": "http://127.0.0.1:9"}')
    with triage_at(monkeypatch) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW) == 0

    assert "writer" in llm.asked


def test_services_that_are_all_down_are_an_outage_under_the_rules(desk, monkeypatch, capsys):
    agents = ("investigator", "codebase_search", "web_search", "critic", "writer")
    monkeypatch.setenv("TRIAGE_AGENT_URLS", json.dumps(dict.fromkeys(agents, "http://127.0.0.1:9")))
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, "--supervisor", "rules", typed="I do not know\n") == 3

    assert "127.0.0.1:9/agents/investigator/invoke" in capsys.readouterr().err


def test_an_endpoint_that_hangs_is_an_outage_after_its_time(desk, monkeypatch, capsys):
    monkeypatch.setenv("TRIAGE_TIMEOUT_S", "0.2")
    with triage_at(monkeypatch, hanging) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, "--supervisor", "rules", typed="I do not know\n") == 3

    assert "the endpoint failed (Request timed out." in capsys.readouterr().err


@pytest.mark.parametrize("usage", [[1], "many", {"prompt_tokens": "many", "completion_tokens": -1}, None])
async def test_odd_counts_of_tokens_lose_no_answer(usage):
    account = Account()
    asked = httpx2.Request("POST", "http://127.0.0.1:9/v1/chat/completions")
    body = {"model": "m", "choices": [{"message": {"content": "yes"}}], "usage": usage}

    answer = httpx2.Response(200, json=body, request=asked)
    answer.elapsed = timedelta(seconds=1)  # as a client sets it
    await account.enter(answer)

    assert [(call.tokens_in, call.tokens_out) for call in account.calls] == [(0, 0)]

"""`--max-cost` and `--max-tokens`: a job stops before the request that could pass its cap, and goes on with more."""

import datetime as dt
import json

import httpx2
import pytest

from tests.builders.desk import AGAIN, NEW, a_desk, triage_at
from tests.builders.endpoint import a_completion
from tests.builders.llm_server import answering
from tests.builders.unruly import first, hanging, only
from triage.cli import main
from triage.job_budget import AnsweredRequest, Budget, OverBudgetError, price_of
from triage.job_model_requests import Account


@pytest.fixture
def desk(tmp_path, monkeypatch):
    folder = a_desk(tmp_path, monkeypatch)
    monkeypatch.setenv("TRIAGE_MAX_OUTPUT_TOKENS", "500")
    return folder


def counting(tokens_in=900, tokens_out=100, model="gpt-4o"):
    """A sound team whose endpoint counts so many tokens for every request."""

    def answer(agent, body):
        status, kind, content = answering()(agent, body)
        usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        return status, kind, json.dumps({**json.loads(content), "usage": usage, "model": model}).encode()

    return answer


def test_a_job_stops_before_its_cap_is_passed_and_goes_on_with_a_higher_one(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, counting()) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW, "--max-tokens", "6000") == 4
        used = 1_000 * len(llm.asked)
        told = capsys.readouterr().err
        assert 0 < used <= 6_000
        assert f"stopped: the next request could pass --max-tokens 6,000: {used:,} used" in told
        assert "the job is kept: triage run --resume --job-id one --repo shop --max-tokens 12000" in told
        assert f"the job has used {used:,} of 6,000 tokens" in told

        asked = len(llm.asked)
        assert triage("run", *AGAIN) == 4  # the cap is kept with the job, and so is what was used
        assert len(llm.asked) == asked
        assert triage("run", *AGAIN, "--max-tokens", "60000") == 0

    told = capsys.readouterr().err
    assert f"the job has used {1_000 * len(llm.asked):,} of 60,000 tokens" in told
    assert json.loads((desk / ".triage/one/trace.json").read_text())["took"]["tokens_in"] == 900 * len(llm.asked)


def test_a_cap_on_the_price_counts_by_the_table(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, counting()) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW, "--max-cost", "0.02") == 4

    told = capsys.readouterr().err
    assert "stopped: the next request could pass --max-cost 0.02 USD" in told
    usd_per_request = (900 * 2.5 + 100 * 10) / 1_000_000
    assert f"the job has used {usd_per_request * len(llm.asked):.4f} of 0.02 USD" in told


@pytest.mark.parametrize("supervisor", ["llm", "rules", "registry", "plan-fixed", "plan-llm"])
def test_no_supervisor_takes_the_stop_for_a_failed_agent(supervisor, desk, monkeypatch, capsys):
    with triage_at(monkeypatch, counting()) as (triage, llm):
        assert (
            triage("run", "--repo", "shop", *NEW, "--supervisor", supervisor, "--max-tokens", "7000", typed="No\n") == 4
        )
        told = capsys.readouterr().err
        assert "stopped: " in told
        assert "failed (" not in told
        assert 1_000 * len(llm.asked) <= 7_000
        assert triage("run", *AGAIN, "--max-tokens", "900000", typed="No\n") in (0, 5)

    assert json.loads((desk / ".triage/one/report.json").read_text())["agent_errors"] == []


def test_three_texts_at_once_are_not_let_out_beyond_the_cap(desk, monkeypatch, capsys):
    """The writer asks for all three side by side: each has to fit beside the others."""
    with triage_at(monkeypatch, counting(10, 10)) as (triage, llm):
        codes = [triage("run", "--repo", "shop", *NEW, "--max-tokens", "3000")]
        while codes[-1] == 4 and len(codes) < 30:
            codes.append(triage("run", *AGAIN, "--max-tokens", str(3000 + 500 * len(codes))))

    assert codes[-1] == 0
    assert len(codes) > 2
    assert "writer-ticket" in llm.asked


@pytest.mark.parametrize(
    ("environment", "arguments", "said"),
    [
        ({"TRIAGE_MAX_OUTPUT_TOKENS": None}, ("--max-tokens", "9000"), "set TRIAGE_MAX_OUTPUT_TOKENS"),
        ({"TRIAGE_MAX_OUTPUT_TOKENS": None}, ("--max-cost", "1"), "set TRIAGE_MAX_OUTPUT_TOKENS"),
        (
            {},
            ("--max-cost", "1", "--model", "nobody"),
            "the price of 'nobody' is unknown: use --max-tokens",
        ),
        ({"TRIAGE_AGENT_URLS": '{"critic": "http://127.0.0.1:9"}'}, ("--max-cost", "1"), "unset TRIAGE_AGENT_URLS"),
        ({}, ("--max-cost", "nan"), "Invalid value for '--max-cost'"),
        ({}, ("--max-cost", "inf"), "--max-cost inf: give a number of USD"),
        ({}, ("--max-cost", "-1"), "Invalid value for '--max-cost'"),
        ({}, ("--max-tokens", "0"), "Invalid value for '--max-tokens'"),
    ],
)
def test_a_cap_that_cannot_be_kept_is_refused_in_one_line(environment, arguments, said, desk, monkeypatch, capsys):
    for name, value in environment.items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    with triage_at(monkeypatch) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW, *arguments) == 2

    told = capsys.readouterr().err.strip()
    assert said in told
    assert "\n" not in told
    assert llm.asked == []
    assert not (desk / ".triage").exists()


def test_a_model_without_a_price_may_have_a_cap_on_tokens(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, counting()) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, "--model", "nobody", "--max-tokens", "90000") == 0


def test_a_request_that_timed_out_counts_as_if_it_had_been_answered_at_length(desk, monkeypatch, capsys):
    """It may be charged for; in the next sitting as well."""
    monkeypatch.setenv("TRIAGE_TIMEOUT_S", "0.5")
    with triage_at(monkeypatch, only(["critic"], first(1, hanging), counting())) as (triage, _):
        triage("run", "--repo", "shop", *NEW, "--max-tokens", "900000")
    first_told = capsys.readouterr().err
    assert main(["run", *AGAIN]) == 0
    again = capsys.readouterr().err

    used = [text.partition("the job has used ")[2].partition(" ")[0].replace(",", "") for text in (first_told, again)]
    trace = json.loads((desk / ".triage/one/trace.json").read_text())
    assert used[0] == used[1]
    assert int(used[0]) > trace["took"]["tokens_in"] + trace["took"]["tokens_out"] + 500
    assert trace["unanswered"] == [{"agent": "critic", "why": "ReadTimeout", "times": 1}]


def a_request(content=b'{"model": "gpt-4o", "messages": []}'):
    return httpx2.Request("POST", "http://127.0.0.1:9/v1/chat/completions", content=content)


def test_what_is_reserved_is_given_back_by_the_answer():
    budget, request = Budget(None, 1_000, output_limit=400), a_request()
    budget.admit(request)
    with pytest.raises(OverBudgetError):
        Budget(None, 100, output_limit=400).admit(request)
    with pytest.raises(OverBudgetError):
        [budget.admit(a_request()) for _ in range(3)]

    budget.settle(request, AnsweredRequest("critic", "gpt-4o", 10, 5, 0.1))

    assert budget.used.tokens == 15


def test_an_answer_that_counts_nothing_has_taken_what_was_reserved():
    budget, request = Budget(None, 1_000, output_limit=400), a_request()
    budget.admit(request)
    budget.settle(request, AnsweredRequest("critic", "gpt-4o", 0, 0, 0.1))

    assert budget.used.tokens == budget.bound(request)[1] + 400


def test_a_refused_request_has_taken_nothing():
    budget, request = Budget(1.0, None, output_limit=400), a_request()
    budget.admit(request)
    budget.settle(request, None)

    assert (budget.used.tokens, budget.used.usd) == (0, 0.0)


def test_an_answer_by_a_model_without_a_price_costs_what_the_asked_one_does():
    budget, request = Budget(1.0, None, output_limit=400), a_request()
    budget.admit(request)
    budget.settle(request, AnsweredRequest("critic", "a-name-of-the-gateway", 1_000_000, 0, 0.1))

    assert budget.used.usd == price_of("gpt-4o")[0]


async def test_an_account_without_a_cap_lets_everything_out():
    account = Account()
    account.admit(a_request())
    answer = httpx2.Response(200, json=a_completion("yes"), request=a_request())
    answer.elapsed = dt.timedelta(seconds=1)
    await account.enter(answer)

    assert len(account.calls) == 1

"""A search query leaves the machine only where it holds no secret, never whole pages of it, and never unseen."""

import json

import pytest

from evals.cassettes.cassette_files import load
from tests.builders.desk import NEW, a_desk, triage_at
from tests.builders.endpoint import a_completion
from tests.builders.llm_server import answering
from tests.builders.plan import tool_call
from tests.builders.search import SearchService, a_searching_model, a_searching_toolbox, some_results
from tests.builders.secret import PLANTED
from tests.builders.shipped import all_cassettes, every
from triage.outgoing_text import QUERY_LIMIT, secret_in, shortened_query
from triage.web_search_tool import SearchFailed, search_tool

ROUTE = ("investigator", "web_search", "codebase_search", "critic", "writer")
OURS = "token-of-the-test"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIAGE_API_KEY", OURS)
    return a_desk(tmp_path, monkeypatch)


def asking_for(*queries):
    """A team whose web search asks for these; the endpoint was told to by the issue."""
    sound = answering(route=ROUTE)

    def answer(agent, body):
        if agent != "web_search" or not body.get("tools"):
            return sound(agent, body)
        calls = [tool_call(n, "tavily_search", query=query) for n, query in enumerate(queries)]
        return 200, "application/json", json.dumps(a_completion(None, "tool_calls", tool_calls=calls)).encode()

    return answer


@pytest.mark.parametrize("rule", ["aws_key", "github_token", "named_password", "url_password"])
def test_a_query_with_a_secret_is_a_failed_search_and_not_a_failed_job(rule, desk, monkeypatch, capsys):
    with triage_at(monkeypatch, asking_for(f"why is {PLANTED[rule]} refused", "cart total")) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW) == 0

    told = capsys.readouterr().err
    assert llm.searched == ["cart total"]
    assert "searches the web: not sent: the query holds what looks like a secret" in told
    assert PLANTED[rule] not in told


def test_a_key_of_the_process_is_a_secret(desk, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", OURS)
    with triage_at(monkeypatch, asking_for(f"what is {OURS[::-1]}", f"what is {OURS}")) as (triage, llm):
        triage("run", "--repo", "shop", *NEW)

    assert llm.searched == []


def test_what_is_searched_is_shown_as_it_is_sent(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, asking_for("word " * 200)) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW) == 0

    (sent,) = llm.searched
    assert len(sent) <= QUERY_LIMIT
    assert f"searches the web: {sent}\n" in capsys.readouterr().err


async def test_a_refused_query_asks_nobody():
    service = SearchService(some_results("a"))
    toolbox = a_searching_toolbox(a_searching_model({}), service)

    with pytest.raises(SearchFailed, match="holds what looks like a secret"):
        await search_tool(toolbox.settings, toolbox.clients).ainvoke({"query": PLANTED["aws_key"]})
    assert service.asked == []


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("short", "short"),
        ("a" * 400, "a" * 300),
        ("x" * 298 + " yy z", "x" * 298),
        ("x" * 297 + " yy z", "x" * 297 + " yy"),
    ],
)
def test_a_long_query_is_cut_at_a_word(query, sent):
    assert shortened_query(query) == sent


@pytest.mark.slow
def test_no_recorded_query_is_cut_or_refused():
    """Recorded searches replay as they are: those of every sixth file that holds any, of all under `EVERY=1`."""
    files = [path for path in all_cassettes() if "/search\n" in path.read_text(encoding="utf-8")]
    sample = files if every() else files[::6]
    asked = [one for path in sample for one in load(path).interactions if one.uri.endswith("/search")]

    assert len(asked) > 10
    queries = [one.request["query"] for one in asked]
    assert [query for query in queries if shortened_query(query) != query or secret_in(query)] == []

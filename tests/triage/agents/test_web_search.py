import httpx
import pytest

from tests.builders.endpoint import SAID
from tests.builders.search import SearchService, a_searching_model, a_searching_toolbox, some_results
from tests.builders.state import a_state
from triage.agents.web_search import MAX_SEARCHES, NO_SEARCH, WEB_SEARCH, WebSearchOutput
from triage.web_search_tool import NOTHING_NEW

ANSWER = {**SAID, "external_root_cause": None, "relevant_results": []}


class NotRecordedError(LookupError):
    """What a replay raises for a request it has no recording of."""


async def search(service, *queries, **options):
    """The requests the model got: the one that may call the tool, and the one that concludes."""
    model = a_searching_model(ANSWER, *queries, **options)
    await WEB_SEARCH.chain(a_searching_toolbox(model, service)).ainvoke(WEB_SEARCH.read(a_state()))
    return model.asked


def conclusion(asked) -> str:
    return asked[-1]["messages"][1]["content"]


async def test_no_request_has_both_the_tool_and_the_schema():
    first, second = await search(SearchService(some_results("Known bug")), "library bug")

    assert "tools" in first
    assert "response_format" not in first
    assert "tools" not in second
    assert "response_format" in second


async def test_tavily_is_asked_through_the_injected_client():
    service = SearchService(some_results("Known bug"))
    await search(service, "library bug")

    asked = service.asked[0]
    assert (asked["query"], asked["max_results"], asked["search_depth"]) == ("library bug", 5, "advanced")


async def test_a_model_that_does_not_search_is_told_so_in_the_end():
    service = SearchService(some_results("Known bug"))

    asked = await search(service)

    assert NO_SEARCH in conclusion(asked)
    assert service.asked == []


@pytest.mark.parametrize("answer", [401, 429, 500, httpx.ConnectError("no route to 10.0.0.1")])
async def test_a_failed_search_is_an_error_and_not_a_result(answer):
    """Tavily's tool would return {"error": …} as if it had been found."""
    asked = await search(SearchService(answer), "library bug")

    assert "The search failed" in conclusion(asked)
    assert "{" not in conclusion(asked)


async def test_the_text_of_a_failure_does_not_depend_on_the_moment():
    """Hosts and times in it would make the next request one that nobody recorded."""
    asked = await search(SearchService(500), "library bug")

    assert "12:34" not in conclusion(asked)


async def test_a_missing_recording_is_not_explained_away():
    """A replay must see it as what it is, and not as an unlucky search."""
    with pytest.raises(NotRecordedError):
        await search(SearchService(NotRecordedError("not recorded")), "library bug")


async def test_a_tool_that_does_not_exist_is_answered_with_an_error():
    asked = await search(SearchService(some_results("Known bug")), "library bug", tool="wikipedia")

    assert "wikipedia is not a valid tool" in conclusion(asked)


async def test_a_model_in_a_loop_gets_its_first_searches_only():
    service = SearchService(some_results("Known bug"))
    await search(service, *map(str, range(MAX_SEARCHES + 5)))

    assert len(service.asked) == MAX_SEARCHES


async def test_the_model_may_choose_the_query_and_nothing_else():
    asked = await search(SearchService(some_results("Known bug")), "library bug")

    function = asked[0]["tools"][0]["function"]
    assert function["name"] == "tavily_search"
    assert list(function["parameters"]["properties"]) == ["query"]


@pytest.mark.parametrize(("cause", "details"), [("A bug in lib 2.1.", "A bug in lib 2.1."), (None, "none identified")])
def test_the_finding_is_the_cause_and_the_addresses(cause, details):
    page = {"url": "https://docs.invalid/1", "title": "t", "why": "same error"}

    finding = WEB_SEARCH.finding(WebSearchOutput(**SAID, external_root_cause=cause, relevant_results=[page]))

    assert (finding.details, finding.relevant_files) == (details, ("https://docs.invalid/1",))


def a_searched_web(**fields):
    return a_state(web_queries=["library bug"], pages_read=["https://docs.invalid/0"], **fields)


async def test_the_state_learns_what_was_searched_for_and_read():
    toolbox = a_searching_toolbox(a_searching_model(ANSWER, "library bug"), SearchService(some_results("One", "Two")))
    output = await WEB_SEARCH.chain(toolbox).ainvoke(WEB_SEARCH.read(a_state()))

    assert WEB_SEARCH.update(a_state(), output) == {
        "web_queries": ["library bug"],
        "pages_read": ["https://docs.invalid/0", "https://docs.invalid/1"],
    }


@pytest.mark.parametrize(("titles", "left"), [(("One", "Two"), "- Two\n"), (("One",), NOTHING_NEW)])
async def test_pages_read_before_are_left_out_of_a_further_search(titles, left):
    model = a_searching_model(ANSWER, "another query")
    toolbox = a_searching_toolbox(model, SearchService(some_results(*titles)))
    await WEB_SEARCH.chain(toolbox).ainvoke(WEB_SEARCH.read(a_searched_web()))

    assert left in conclusion(model.asked)
    assert "- One\n" not in conclusion(model.asked)

"""The Tavily search tool, sent through the injected HTTP client, its failures made visible.

As it ships, the tool opens connections of its own and returns `{"error": …}` as if it were a result. The pages come
back as the artifact of the tool's message, so that a search can leave out those the job has read.

A model writes the query, and an issue may tell it what to write: no query that looks like it holds a secret is sent,
and no more of one than `triage.outgoing_text.QUERY_LIMIT` characters.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Literal, Self

from langchain_core.tools import ToolException
from langchain_tavily import TavilySearch
from langchain_tavily._utilities import TavilySearchAPIWrapper
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from tavily import AsyncTavilyClient  # type: ignore[import-untyped]  # ships no types

from triage.llm import HttpClients
from triage.outgoing_text import secret_in, shortened_query
from triage.settings import Settings

MAX_RESULTS: Final = 5
NOTHING_NEW: Final = "Nothing that was not read before."
EXCERPT_LIMIT: Final = 600
"""Characters of one page that reach the prompt."""


class SearchFailed(ToolException):
    """A search that gave no usable result; the model is told, and concludes without it."""


class SearchQuery(BaseModel):
    """All the model may choose. The tool's own schema, with its eight knobs, fills a page of every prompt."""

    query: str = Field(description="what to type into the search engine")


class SearchResult(BaseModel):
    """One search result, its excerpt clipped."""

    model_config = ConfigDict(frozen=True)

    title: str
    url: str
    excerpt: str

    @classmethod
    def of(cls, result: dict[str, Any]) -> Self:
        """As Tavily spells it."""
        return cls(
            title=str(result.get("title", "")),
            url=str(result.get("url", "")),
            excerpt=str(result.get("content", ""))[:EXCERPT_LIMIT],
        )


class _InjectedClient(TavilySearchAPIWrapper):
    """The wrapper's request, made by the SDK on a client from outside."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    client: AsyncTavilyClient

    # The parent spells out sixteen parameters; all but the query are passed through.
    async def raw_results_async(  # type: ignore[override]
        self,
        query: str,
        **parameters: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        given = {name: value for name, value in parameters.items() if value is not None}
        found: dict[str, Any] = await self.client.search(query, **given)
        return found


class _ReportingSearch(TavilySearch):
    """Returns text for a prompt, and raises where the original returns an error as data."""

    heard: Callable[[str], None] = Field(default=lambda _query: None, exclude=True)
    """Hears each query as it is sent, or that it was not."""

    # Text instead of a dict, and the parent's other parameters passed through: the model only chooses the query.
    async def _arun(  # type: ignore[override]
        self,
        query: str,
        **parameters: Any,  # noqa: ANN401
    ) -> tuple[str, list[SearchResult]]:
        if rule := secret_in(query):
            self.heard(f"not sent: the query holds what looks like a secret ({rule})")
            raise SearchFailed(f"The query was not sent: it holds what looks like a secret ({rule}).")
        sent = shortened_query(query)
        self.heard(sent)
        found = await super()._arun(sent, **parameters)
        if "error" in found:
            raise _as_exception(found["error"])
        pages = [SearchResult.of(result) for result in found["results"]]
        return results_text(query, pages), pages


def _as_exception(error: object) -> Exception:
    """A replay's missing recording is a LookupError and no failed search: it must not be explained away."""
    if isinstance(error, LookupError):
        return error
    # Only the kind is told: messages hold hosts and times, which would make every later request unique.
    return SearchFailed(f"The search failed ({type(error).__name__}).")


def results_text(query: str, pages: Sequence[SearchResult], read_before: Collection[str] = ()) -> str:
    """Search results as the prompt shows them: title, address, excerpt; without the pages read before."""
    new = [f"- {page.title}\n  {page.url}\n  {page.excerpt}" for page in pages if page.url not in read_before]
    return "\n".join([f"Results for: {query}", *(new or ([NOTHING_NEW] if pages else []))])


def search_tool(
    settings: Settings, clients: HttpClients, heard: Callable[[str], None] = lambda _query: None
) -> TavilySearch:
    """A tool named `tavily_search` over `clients.tavily_async`; `heard` is told each query as it is sent."""
    key = settings.tavily_api_key.get_secret_value()
    client = AsyncTavilyClient(api_key=key or None, api_base_url=settings.tavily_base_url, client=clients.tavily_async)
    wrapper = _InjectedClient(tavily_api_key=SecretStr(key or "no-key-set"), client=client)
    depth: Literal["advanced"] = "advanced"
    return _ReportingSearch(
        api_wrapper=wrapper,
        max_results=MAX_RESULTS,
        search_depth=depth,
        args_schema=SearchQuery,
        description="Search the web. Input: one precise query.",
        handle_tool_error=False,
        response_format="content_and_artifact",
        heard=heard,
    )

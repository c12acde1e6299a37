"""A web search for recording without a key: Tavily's search protocol over the pages in `datasets/web/`.

Same query, same bytes: BM25 over a fixed set of pages, rounded scores, ties ordered by URL, no clock.
"""

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any, Final

import bm25s  # type: ignore[import-untyped]  # the package carries no types
from pydantic import Field, ValidationError

from evals.dataset.layout import Layout
from evals.dataset.located import parse_model, read_text
from evals.errors import DatasetError
from evals.models.closed import Closed

LOOPBACK: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8092
MAX_BODY_BYTES: Final = 100_000
MAX_CONTENT_CHARS: Final = 1600  # five results of this size still fit a context of 8k tokens
FENCE: Final = "---"


class FrontMatter(Closed):
    """What a page says about itself."""

    url: Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S*$")]
    title: str
    published: str


class Page(Closed):
    """One page of the offline web."""

    about: FrontMatter
    body: str


class Query(Closed, extra="ignore"):
    """The part of a Tavily search request that matters here; its other options change nothing."""

    query: Annotated[str, Field(min_length=1)]
    max_results: Annotated[int, Field(ge=0, le=20)] = 5
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()


class SearchIndex:
    """BM25 over title and body of every page."""

    def __init__(self, pages: Sequence[Page]) -> None:
        if not pages:
            raise DatasetError("the offline web holds no pages; add datasets/web/<page>.md")
        self._pages = sorted(pages, key=lambda page: page.about.url)
        self._bm25 = bm25s.BM25()
        self._bm25.index(_tokens([f"{page.about.title}\n{page.body}" for page in self._pages]), show_progress=False)

    def search(self, query: Query) -> list[dict[str, Any]]:
        """Tavily's `results`: the best pages first, only those that share a word with the query."""
        [words] = _tokens([query.query])
        scores = self._bm25.get_scores(words) if words else []
        found = [(_squash(float(score)), page) for score, page in zip(scores, self._pages, strict=False)]
        wanted = [(score, page) for score, page in found if score > 0 and _allowed(query, page)]
        wanted.sort(key=lambda pair: -pair[0])  # stable: equals stay in the order of their URLs
        return [_result(score, page) for score, page in wanted[: query.max_results]]


def load_pages(root: Path) -> list[Page]:
    """All pages of the dataset in folder `root`, by file name. Raises DatasetError (`path:line: …`)."""
    return [read_page(path) for path in sorted(Layout(root).web.glob("*.md"))]


def read_page(path: Path) -> Page:
    """One page: front matter between two `---` lines, then the body."""
    text = read_text(path)
    parts = text.split(f"{FENCE}\n", 2)
    if len(parts) != 3 or parts[0]:
        raise DatasetError(f"{path}:1: must start with front matter (url, title, published) between two {FENCE} lines")
    return Page(about=parse_model(path, "\n" + parts[1], FrontMatter), body=parts[2].strip())


@contextmanager
def running(root: Path, port: int = 0) -> Iterator[str]:
    """The server in a thread while the block runs; yields its base URL. Port 0 takes any free one."""
    server = _server(SearchIndex(load_pages(root)), port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def serve(root: Path, port: int = DEFAULT_PORT) -> None:
    """Serves until interrupted, on loopback only."""
    with _server(SearchIndex(load_pages(root)), port) as server:
        server.serve_forever()


def _server(index: SearchIndex, port: int) -> ThreadingHTTPServer:
    class Handler(_SearchHandler):
        pages = index

    return ThreadingHTTPServer((LOOPBACK, port), Handler)


class _SearchHandler(BaseHTTPRequestHandler):
    """POST /search; everything else is refused in Tavily's error shape."""

    protocol_version = "HTTP/1.1"
    pages: SearchIndex

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        if length > MAX_BODY_BYTES:
            self.close_connection = True
            self._answer(413, _error(f"the request is over {MAX_BODY_BYTES} bytes"))
            return
        status, answer = respond(self.pages, self.path, self.rfile.read(length))
        self._answer(status, answer)

    def do_GET(self) -> None:
        self._answer(405, _error("ask with POST /search"))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name is the parent's
        """Says nothing: what was asked stands in the cassette."""

    def _answer(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def respond(index: SearchIndex, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
    """Status and answer to one request, in Tavily's shapes."""
    if path.partition("?")[0] != "/search":
        return 404, _error(f"there is no {path} here, only /search")
    try:
        query = Query.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return 400, _error(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    return 200, {
        "query": query.query,
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": index.search(query),
        "response_time": 0.0,  # a measured time would make every recording differ
    }


def _error(message: str) -> dict[str, Any]:
    return {"detail": {"error": message}}


def _result(score: float, page: Page) -> dict[str, Any]:
    about = page.about
    return {"url": about.url, "title": about.title, "content": _excerpt(page.body), "score": score, "raw_content": None}


def _excerpt(body: str) -> str:
    if len(body) <= MAX_CONTENT_CHARS:
        return body
    return body[:MAX_CONTENT_CHARS].rpartition(" ")[0] + " …"


def _squash(score: float) -> float:
    """BM25's open scale brought to Tavily's 0..1, in the same order."""
    return round(score / (score + 5.0), 4)


def _allowed(query: Query, page: Page) -> bool:
    host = page.about.url.split("/")[2]
    if any(_within(host, domain) for domain in query.exclude_domains):
        return False
    return not query.include_domains or any(_within(host, domain) for domain in query.include_domains)


def _within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _tokens(texts: list[str]) -> list[list[str]]:
    tokens: list[list[str]] = bm25s.tokenize(texts, stopwords="en", return_ids=False, show_progress=False)
    return tokens


if __name__ == "__main__":
    serve(
        Path(sys.argv[1] if len(sys.argv) > 1 else "datasets"), int(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT_PORT
    )

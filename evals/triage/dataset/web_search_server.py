"""A local search server with Tavily's protocol over the pages in `datasets/web/`."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

from evals.errors import DatasetError
from evals.models.base import Closed
from evals.recording.endpoint import CASE_HEADER
from evals.safe_yaml import parse_model, read_text
from evals.triage.dataset.dataset_layout import Layout

LOOPBACK: Final = "127.0.0.1"
MAX_BODY_BYTES: Final = 100_000
MAX_CONTENT_CHARS: Final = 1600  # five results of this size still fit a context of 8k tokens
POLL_S: Final = 0.02
"""How often the thread looks whether it is to end; it would be half a second at the end of every recording."""


FENCE: Final = "---"


class PageFrontMatter(Closed):
    """What a page says about itself. `only_for` names the cases that can find it; without it, all can.

    A page that carries an injection, or the diagnosis of an open issue, would spoil every other case that met it.
    """

    url: Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S*$")]
    title: str
    published: str
    only_for: tuple[str, ...] = ()


class WebPage(Closed):
    """One page of the offline web."""

    about: PageFrontMatter
    body: str


def load_pages(root: Path) -> list[WebPage]:
    """All pages of the dataset in folder `root`, by file name; none in an empty folder, as an import leaves it.

    Raises DatasetError (`path:line: …`): a page is wrong, or there is no folder at all.
    """
    web = Layout(root).web
    if not web.is_dir():
        raise DatasetError(f"{web}: is missing; the offline web is a folder of pages, empty where none are known")
    return [read_page(path) for path in sorted(web.glob("*.md"))]


def read_page(path: Path) -> WebPage:
    """One page: front matter between two `---` lines, then the body."""
    text = read_text(path)
    parts = text.split(f"{FENCE}\n", 2)
    if len(parts) != 3 or parts[0]:
        raise DatasetError(f"{path}:1: must start with front matter (url, title, published) between two {FENCE} lines")
    return WebPage(about=parse_model(path, "\n" + parts[1], PageFrontMatter), body=parts[2].strip())


class Query(Closed, extra="ignore"):
    """The part of a Tavily search request that matters here; its other options change nothing."""

    query: Annotated[str, Field(min_length=1)]
    max_results: Annotated[int, Field(ge=0, le=20)] = 5
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()


class SearchIndex:
    """BM25 over title and body of every page."""

    def __init__(self, pages: Sequence[WebPage]) -> None:
        import bm25s  # type: ignore[import-untyped]  # noqa: PLC0415 - of the extra `triage`

        self._pages = sorted(pages, key=lambda page: page.about.url)
        self._bm25 = bm25s.BM25()
        if pages:  # the library refuses to index nothing
            self._bm25.index(_tokens([f"{page.about.title}\n{page.body}" for page in self._pages]), show_progress=False)

    def search(self, query: Query, case_id: str = "") -> list[dict[str, Any]]:
        """Tavily's `results`: the best pages this case can find first, only those that share a word with the query."""
        [words] = _tokens([query.query])
        scores = self._bm25.get_scores(words) if words and self._pages else []
        shares = (
            round(float(score) / (float(score) + 5.0), 4) for score in scores
        )  # Tavily's are 0 to 1, in this order
        found = list(zip(shares, self._pages, strict=False))
        wanted = [(score, page) for score, page in found if score > 0 and _allowed(query, page, case_id)]
        wanted.sort(key=lambda pair: -pair[0])  # stable: equals stay in the order of their URLs
        return [_result(score, page) for score, page in wanted[: query.max_results]]


@contextmanager
def running(root: Path, port: int = 0) -> Iterator[str]:
    """The server in a thread while the block runs; yields its base URL. Port 0 takes any free one."""
    server = _server(SearchIndex(load_pages(root)), port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": POLL_S}, daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _server(index: SearchIndex, port: int) -> ThreadingHTTPServer:
    class Handler(_SearchHandler):
        pages = index

    return ThreadingHTTPServer((LOOPBACK, port), Handler)


class _SearchHandler(BaseHTTPRequestHandler):
    """POST /search; everything else is refused in Tavily's error shape."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together: apart, the second waits 40 ms for the first to be acknowledged
    pages: SearchIndex

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        if length > MAX_BODY_BYTES:
            self.close_connection = True
            self._answer(413, _error(f"the request is over {MAX_BODY_BYTES} bytes"))
            return
        case_id = self.headers.get(CASE_HEADER, "")
        status, answer = respond(self.pages, self.path, self.rfile.read(length), case_id)
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


def respond(index: SearchIndex, path: str, body: bytes, case_id: str = "") -> tuple[int, dict[str, Any]]:
    """Status and answer to one request made for a case, in Tavily's shapes."""
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
        "results": index.search(query, case_id),
        "response_time": 0.0,  # a measured time would make every recording differ
    }


def _error(message: str) -> dict[str, Any]:
    return {"detail": {"error": message}}


def _result(score: float, page: WebPage) -> dict[str, Any]:
    about = page.about
    return {"url": about.url, "title": about.title, "content": _excerpt(page.body), "score": score, "raw_content": None}


def _excerpt(body: str) -> str:
    if len(body) <= MAX_CONTENT_CHARS:
        return body
    return body[:MAX_CONTENT_CHARS].rpartition(" ")[0] + " …"


def _allowed(query: Query, page: WebPage, case_id: str) -> bool:
    if page.about.only_for and case_id not in page.about.only_for:
        return False
    host = page.about.url.split("/")[2]
    if any(_within(host, domain) for domain in query.exclude_domains):
        return False
    return not query.include_domains or any(_within(host, domain) for domain in query.include_domains)


def _within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _tokens(texts: list[str]) -> list[list[str]]:
    import bm25s  # noqa: PLC0415 - as above

    tokens: list[list[str]] = bm25s.tokenize(texts, stopwords="en", return_ids=False, show_progress=False)
    return tokens

"""Pages made of what strangers say, in a real Chromium: everything that can be clicked is clicked, and no payload runs.

Without a Chromium, or without playwright, nothing is tried, and the table says so.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from _pytest.outcomes import Skipped

from tests.builders.checkout import a_checkout, evals
from tests.builders.chromium import a_chromium
from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.llm_server import an_llm_server, answering
from tests.chaos.row import Row

PAYLOADS: Final = (
    "<script>RUN</script>",
    "</script><script>RUN</script>",
    "</template><script>RUN</script>",
    "<img src=x onerror=RUN>",
    '"><img src=x onerror="RUN">',
    "'-RUN-'",
    "<svg onload=RUN></svg>",
    "<svg><script>RUN</script></svg>",
    "<details open ontoggle=RUN>",
    "<iframe srcdoc='<script>parent.RUN</script>'></iframe>",
    "<a href='javascript:RUN'>more</a>",
    "[more](javascript:RUN)",
    "<body onpageshow=RUN>",
    "<style>@import 'http://example.invalid/x'</style>",
    "<link rel=stylesheet href=http://example.invalid/x>",
    "<img src=http://example.invalid/x>",
    "<meta http-equiv=refresh content='0;url=http://example.invalid/'>",
    "<base href=http://example.invalid/>",
    "<form action=http://example.invalid/><button autofocus onfocus=RUN>go</button></form>",
    "--><script>RUN</script><!--",
    "]]><script>RUN</script>",
    "{{RUN}}${RUN}`RUN`",
    "\\u003cscript\\u003eRUN\\u003c/script\\u003e",
    "<math><mtext><table><mglyph><style><img src=x onerror=RUN>",
)
PLACES: Final = 5  # investigator, code search, report, comment, issue
CLICKABLE: Final = "summary, button, a, tr, [tabindex], [data-id], th, label, input"


def rows(folder: Path, _share: float, _seed: int) -> list[Row]:
    """Each payload in every place at once: the pages are opened once."""
    pages = list(_pages(folder))  # before a browser is there: playwright keeps an event loop of its own
    with contextlib.ExitStack() as stack:
        try:
            chromium = stack.enter_context(contextlib.contextmanager(a_chromium)())
        except Skipped as reason:
            return [Row(f"payloads run in a browser: not tried, {reason.msg}", 0, 0, promised=False)]
        ran = [ran_in(chromium, page) for page in pages]
        return [Row("payloads in pages: run, or asked for over a network", len(PAYLOADS) * PLACES, sum(ran))]


def _pages(folder: Path) -> Iterator[Path]:
    """A recording by a model that says nothing else, about an issue that does as well."""
    hostile = "\n".join(each.replace("RUN", f"window.ran={n}") for n, each in enumerate(PAYLOADS, 1))
    checkout = a_checkout(folder / "checkout")
    issue = checkout / "datasets/triage/cases/wrong-sum/issue.md"
    issue.write_text(f"{issue.read_text(encoding='utf-8')}\n{hostile}\n", encoding="utf-8")
    said: dict[str, Any] = {
        "investigator": {**WORKER_REPLIES["investigator"], "hypothesis": hostile, "summary": hostile},  # type: ignore[dict-item]
        "codebase_search": {**WORKER_REPLIES["codebase_search"], "root_cause_location": hostile},  # type: ignore[dict-item]
        "writer": {**WORKER_REPLIES["writer"], "root_cause": hostile, "evidence": [hostile]},  # type: ignore[dict-item]
        "writer-comment": hostile,
    }
    with an_llm_server(answering(**said)) as llm:
        recorded = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)
    if recorded.code:
        raise RuntimeError(recorded.err)
    evals(checkout, "run", "tiny.yaml")
    yield checkout / "reports/latest/index.html"


def ran_in(chromium: Any, page: Path) -> int:
    """How much the page asked for beyond itself, and one more if any payload ran."""
    context = chromium.new_context(offline=True)
    opened = context.new_page()
    beyond: list[str] = []
    opened.on("request", lambda request: None if request.url.startswith(page.as_uri()) else beyond.append(request.url))
    opened.on("dialog", lambda dialog: (beyond.append(dialog.message), dialog.dismiss()))
    opened.goto(page.as_uri())
    opened.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    opened.evaluate(f"document.querySelectorAll({CLICKABLE!r}).forEach(one => one.click())")
    opened.wait_for_timeout(500)
    ran = opened.evaluate("window.ran || 0")
    context.close()
    return len(beyond) + bool(ran)

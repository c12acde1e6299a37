"""Which files and functions a report names, in order: the location's first, then the affected files, without repeats.

A path is normalised before it is compared: quotes and backticks, `./`, backslashes, `:line`, `::function` go; leading
directories go too where what is left is a file of the repository and the whole is not (`app/pkg/core.py` is then
`pkg/core.py`).
Text without anything like a path ("not identified", "none") names nothing, and so does a URL.
"""

import re
from collections.abc import Iterator
from typing import Final

from evals.models.trace import Trace

_SUFFIXES: Final = "py|pyi|pyx|toml|cfg|ini|ya?ml|json|md|rst|txt|sh|sql|html|js|ts|c|h|cpp|go|rs|java|lock"
_PATH: Final = re.compile(rf"(?<![\w/.\\:-])(?:[A-Za-z]:)?[\w.~@+/\\-]*\w\.(?:{_SUFFIXES})(?!\w|\.\w|-\w)")
_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+")
_FUNCTION: Final = re.compile(
    r"""["'`)]*                      # the quote the path stood in
        (?:::?\d+)*                  # :line or :line:column
        (?:,?\s*\(?line\s+\d+\)?)?   # , line 12
        (?:::?["'`]*(?P<joined>[A-Za-z_]\w*)
          |,?\s+in\s+(?:(?:the\s+)?(?:function|method|class)\s+)?["'`]*(?P<spoken>[A-Za-z_]\w*)
           (?=[\w.]*(?:\(|["'`,;)]|\.?\s*$)))  # a lone name, not the first word of a sentence
    """,
    re.VERBOSE,
)


def ranked_files(trace: Trace) -> tuple[str, ...]:
    """The files named by the trace's report, normalised, most suspected first; empty without a report."""
    return tuple(dict.fromkeys(path for path, _ in _mentions(trace)))


def ranked_functions(trace: Trace) -> tuple[str, ...]:
    """The functions named together with a file, as `path::outermost`, in the same order.

    Read are `path::name`, `path:name`, `path:12:name`, `path in name` and a traceback's `"path", line 12, in name`.
    Only the outermost name counts (`Class.method` -> `Class`), as in the labels.
    """
    return tuple(dict.fromkeys(f"{path}::{name}" for path, name in _mentions(trace) if name))


def normalised(path: str, repository_files: frozenset[str]) -> str:
    """A path as the repository spells it where that can be told by dropping leading directories; else cleaned only."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    tails = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((tail for tail in tails if tail in repository_files), "/".join(parts))


def _mentions(trace: Trace) -> Iterator[tuple[str, str | None]]:
    if trace.report is None:
        return
    known = frozenset(trace.repository_files)
    for text in (trace.report.root_cause_location or "", *trace.report.affected_files):
        if text.strip() in known:  # a file without a telling suffix, spelt as the repository spells it
            yield text.strip(), None
            continue
        prose = _URL.sub(" ", text)
        for match in _PATH.finditer(prose):
            function = _FUNCTION.match(prose, match.end())
            yield normalised(match[0], known), (function["joined"] or function["spoken"]) if function else None

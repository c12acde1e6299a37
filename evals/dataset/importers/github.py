"""GitHub issues as `gh issue view --json title,body,url,number,labels` prints them, one object or a list of them.

An issue is a question without an answer: no gold is stated. Labels and comments came after the report, and often name
the cause; neither is shown to an agent nor taken for a label.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evals.dataset.importers.found import Issue, Refused, RefusedRowError
from evals.dataset.importers.issues import issues_in, required
from evals.dataset.importers.rows import Fields, text_in

_URL: Final = re.compile(r"https?://[^/]+/(?P<repository>[^/]+/[^/]+)/(?P<kind>issues|pull)/(?P<number>\d+)")


def read(path: Path) -> Iterator[Issue | Refused]:
    """The issues of a file. Raises DatasetError where it cannot be read."""
    return issues_in(path, _issue)


def _issue(row: str, fields: Fields) -> Issue:
    title = " ".join(required(fields, "title").split())
    where = _URL.match(required(fields, "url").strip())
    if where is None:
        raise RefusedRowError("its url is not that of an issue, so its repository is not known")
    if where["kind"] == "pull":
        raise RefusedRowError("is a pull request: it holds the answer, not the question")
    return Issue(
        row=row,
        name=f"{where['repository']}#{where['number']}",
        repository=where["repository"],
        text=f"{title}\n\n{text_in(fields, 'body').strip()}\n",
        notes=("no gold: an issue does not say where the fault is",),
    )

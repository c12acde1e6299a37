"""hit@5 of the code search in source code of three languages, cut by lines and cut by symbol.

The repository and its planted faults are in `tests/bench/searched`. A search hits if one of the five chunks it returns
holds the faulty line and names the function at fault: in its header, or where the function is defined.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from pathlib import Path
from statistics import mean

import yaml
from langchain_core.documents import Document

from tests.bench.line import Line
from triage.codebase.chunk import WINDOW_CHARS, Chunk, _cut, _Span, chunks_of
from triage.codebase.embed import MiniLM
from triage.codebase.index import CodebaseIndex

REPOSITORY = Path(__file__).parents[1] / "searched"
K = 5


def lines(_folder: Path) -> Iterator[Line]:
    """By lines, then by symbol, over the same issues; then with as many characters read as five windows of lines have,
    for a chunk of one definition is shorter."""
    texts, issues = sources(), faults()
    by_lines, by_symbol = (ranked(chunks, texts, issues) for chunks in (windows(texts), symbols(texts)))
    what = f"the function at fault, TypeScript, Go and Java, {len(issues)} issues, {len(texts)} files"
    before, after = (sum(found.rank <= K for found in ranks) for ranks in (by_lines, by_symbol))
    yield Line(
        f"hit@{K} of {what}",
        "no less than cut by lines",
        f"cut by symbol {after}/{len(issues)}, cut by lines {before}/{len(issues)}",
        after >= before,
    )
    room = round(mean(found.characters for found in by_lines))
    equal = sum(found.read <= room for found in by_symbol)
    yield Line(f"the same within the {room:,} characters that {K} windows have", "", f"{equal}/{len(issues)}", None)


def sources() -> dict[str, str]:
    """The files of the repository by path."""
    found = sorted(path for path in REPOSITORY.rglob("*") if path.is_file() and path.suffix != ".yaml")
    return {path.relative_to(REPOSITORY).as_posix(): path.read_text("utf-8") for path in found}


def faults() -> list[dict[str, str]]:
    """Each fault: file, symbol, part of the faulty line, and the text of its issue."""
    return yaml.safe_load((REPOSITORY / "issues.yaml").read_text("utf-8"))


def windows(texts: dict[str, str]) -> list[Chunk]:
    """All files cut by lines, as files of an unknown language are."""
    cut = []
    for path, text in texts.items():
        split = text.split("\n")
        cut += _cut(path, split, _Span(1, len(split), ""), WINDOW_CHARS)
    return cut


def symbols(texts: dict[str, str]) -> list[Chunk]:
    """All files as the search cuts them."""
    return [chunk for path, text in texts.items() for chunk in chunks_of(path, text)]


@dataclass(frozen=True)
class Found:
    """Where a search shows the function at fault: its `rank` from 1, and the characters `read` until then, both
    infinite where it does not. `characters` are those of the first `K` chunks."""

    rank: float
    read: float
    characters: int


def ranked(chunks: Sequence[Chunk], texts: dict[str, str], issues: Sequence[dict[str, str]]) -> list[Found]:
    """One search for each issue."""
    index = CodebaseIndex(chunks, frozenset(texts), MiniLM())
    return [_found(index.retriever(len(chunks)).invoke(fault["text"]), fault) for fault in issues]


def _found(documents: Sequence[Document], fault: dict[str, str]) -> Found:
    sizes = list(accumulate(len(document.page_content) for document in documents))
    rank = next((n for n, document in enumerate(documents, 1) if shows(document, fault)), None)
    characters = sizes[min(K, len(sizes)) - 1]
    return Found(rank or inf, sizes[rank - 1] if rank else inf, characters)


def shows(document: Document, fault: dict[str, str]) -> bool:
    """Whether a document holds the faulty line and names its function."""
    name, text = fault["symbol"].rpartition(".")[2], document.page_content
    is_there = document.metadata["path"] == fault["file"] and fault["line"] in text
    return is_there and re.search(rf"\b{name}\b", text) is not None

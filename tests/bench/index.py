"""Searching code as live use does: part `index` (time to the first search; what lazy ranking finds in the dataset), and
part `ranking` (the same in a large library), which embeds 10,000 chunks when it is run for the first time: minutes.

The large checkout is the installed pandas without its tests. Queries there are first paragraphs of docstrings of a
hundred functions, drawn with a fixed seed; those docstrings are taken out of the code, and the gold is the function's
file. Of the dataset, the queries are all issues that blame a file: in the code each is about, where all chunks are
candidates, and in all six codebases side by side, where they are not.
"""

import ast
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from evals.triage.dataset.load_cases import load_cases
from triage.codebase.checkout_index import SharedMiniLM
from triage.codebase.chunk import chunks_of
from triage.codebase.embed import SharedVectors
from triage.codebase.index import CANDIDATES, CodebaseIndex
from triage.codebase.source_files import survey

QUERIES = 100
K = 5
ALLOWED = 0.02
COLD_S, WARM_S = 20, 1
VECTORS = Path(".cache/bench/vectors.sqlite")
SEARCH = """
import sys, time
from pathlib import Path
from triage.codebase.checkout_index import index_of_sources
from triage.codebase.source_files import Source
started = time.perf_counter()
index = index_of_sources([Source(Path(sys.argv[1]))], Path(sys.argv[2]), lambda _: None)
index.retriever().invoke(sys.argv[3])
print(len(index.chunks), index.embedder.computed, time.perf_counter() - started, time.process_time())
"""


def main(_suite: str) -> int:
    """Returns 1 if lazy ranking finds less of the dataset's gold than allowed."""
    with tempfile.TemporaryDirectory() as scratch:
        [(query, _), *_] = a_large_checkout(Path(scratch) / "pandas")
        for name, limit in (("cold", COLD_S), ("warm", WARM_S)):
            command = [sys.executable, "-c", SEARCH, f"{scratch}/pandas", f"{scratch}/cache", query]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            chunks, embedded, wall, spent = done.stdout.split()
            took = f"{float(wall):.1f} s (limit {limit} s), processor {float(spent):.1f} s, imports included"
            print(f"first search in {chunks} chunks, {name}: {took}; {embedded} texts embedded", flush=True)
    return dataset()


def dataset() -> int:
    """Lazy and full ranking of the issues that blame a file."""
    cases = [case for case in load_cases(Path("datasets")).values() if case.labels.gold.files]
    asked = [(f"{case.title}\n{case.body}", case.labels.codebase, case.labels.gold.files) for case in cases]
    texts = {folder: survey(Path("datasets/codebases") / folder).texts for folder in sorted({of for _, of, _ in asked})}
    apart = 0
    for folder, files in texts.items():
        apart |= compared(folder, files, [(query, gold) for query, of, gold in asked if of == folder])
    together = {f"{folder}/{path}": text for folder, files in texts.items() for path, text in files.items()}
    gold = [(query, [f"{folder}/{path}" for path in files]) for query, folder, files in asked]
    return apart | compared("all six codebases", together, gold)


def ranking(_suite: str) -> int:
    """Lazy and full ranking in a large checkout."""
    with tempfile.TemporaryDirectory() as scratch:
        asked = a_large_checkout(Path(scratch))
        return compared("pandas", survey(Path(scratch)).texts, [(query, [path]) for query, path in asked])


def compared(name: str, texts: Mapping[str, str], asked: Sequence[tuple[str, Sequence[str]]]) -> int:
    """Print hit@5 of both rankings; 1 if the lazy one has lost more than allowed."""
    chunks = [chunk for path, text in texts.items() for chunk in chunks_of(path, text)]
    embedder = SharedMiniLM(SharedVectors(VECTORS, print))
    lazy, full = (
        CodebaseIndex(chunks, frozenset(texts), embedder, candidates=candidates)
        for candidates in (CANDIDATES, len(chunks))
    )
    found, there = (sum(hit(index, query, gold) for query, gold in asked) for index in (lazy, full))
    same = sum(lazy.ranking(query).best[:K] == full.ranking(query).best[:K] for query, _ in asked)
    print(
        f"hit@{K} in {name} ({len(chunks):,} chunks, {CANDIDATES} candidates): lazy {found}/{len(asked)}, "
        f"full {there}/{len(asked)} (limit: {ALLOWED:.0%} less); the same {K} chunks {same}/{len(asked)}",
        flush=True,
    )
    return int(there - found > ALLOWED * len(asked))


def hit(index: CodebaseIndex, query: str, gold: Sequence[str]) -> bool:
    """Whether one of the chunks that an agent would read is in a gold file."""
    return any(document.metadata["path"] in gold for document in index.retriever(K).invoke(query))


def a_large_checkout(root: Path) -> list[tuple[str, str]]:
    """pandas, below `root`, without its tests and without the docstrings that are returned, each with its path."""
    package = Path(str(find_spec("pandas").origin)).parent
    names = [path.relative_to(package) for path in sorted(package.rglob("*.py"))]
    texts = {str(name): (package / name).read_text("utf-8") for name in names if "tests" not in name.parts}
    found = [(path, *docstring) for path in texts for docstring in docstrings(texts[path])]
    drawn = random.Random(7).sample(found, QUERIES)  # noqa: S311  # no secret
    for path, first, last, _ in drawn:
        lines = texts[path].split("\n")
        texts[path] = "\n".join([*lines[: first - 1], *[""] * (last - first + 1), *lines[last:]])
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return [(query, path) for path, _, _, query in drawn]


def docstrings(text: str) -> Iterator[tuple[int, int, str]]:
    """First line, last line and first paragraph of the docstrings of functions, those of 5 to 40 words."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and len(node.body) > 1:
            paragraph = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
            if 5 <= len(paragraph.split()) <= 40:
                yield node.body[0].lineno, node.body[0].end_lineno or 0, paragraph

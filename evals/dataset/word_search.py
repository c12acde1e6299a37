"""What a search for the issue's words finds: the root cause as far as BM25 gets, and as far as silence gets.

Root causes need no model when the issue shares its words with the guilty file, or when no file is to blame.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from evals.dataset.located import read_text
from evals.dataset.memory import code_digest, libraries_digest
from evals.kept import Kept, digest_of
from evals.models.case import Case
from evals.models.run import DatasetBaseline

ENDPOINT: Final = "root_cause.hit"
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")  # snake_case and CamelCase come apart


def root_cause_baselines(cases: Iterable[Case], tree_of: Callable[[Case], Path], cache: Path) -> list[DatasetBaseline]:
    """`root_cause.hit` of naming BM25's first source file, and of never naming any.

    BM25 always names a file where there is one, so it loses cases without gold, and silence wins just those. Cases
    whose source does not state the gold are left out. `tree_of` gives the code a case is about, in a folder named by
    its content; its tests are left out of the ranking. `cache` keeps what was found for an issue in such a folder.
    """
    cases = [case for case in cases if "gold" not in case.labels.unlabelled]
    if not cases:
        return []
    found = sum(_first(case, tree_of(case), cache) in case.labels.gold.files for case in cases)
    silent = sum(not case.labels.gold.files for case in cases)
    return [
        _baseline("BM25 first file", "The source file that shares most words with the issue.", found, len(cases)),
        _baseline("name nothing", "No file is ever named.", silent, len(cases)),
    ]


def _baseline(name: str, definition: str, hits: int, n: int) -> DatasetBaseline:
    return DatasetBaseline(endpoint=ENDPOINT, name=name, definition=definition, share=hits / n, n=n)


def _first(case: Case, tree: Path, cache: Path) -> str | None:
    """The best file, the first by name among equals; None where there is no code."""
    rests_on = (word.encode("utf-8", "surrogatepass") for word in (tree.name, case.title, case.body))
    kept, name = Kept(cache / "words"), digest_of(_code(cache), *rests_on)
    known = kept.get(name)
    if known is not None:
        return known.decode() or None
    sources = _sources(tree, read_text if case.labels.base_commit is None else _read_foreign)
    found = _rank(case, sources)[0] if sources else None
    kept.put(name, (found or "").encode())
    return found


def _code(cache: Path) -> bytes:
    return code_digest("dataset/word_search.py") + libraries_digest(cache)


def _rank(case: Case, sources: Mapping[str, str]) -> list[str]:
    """The files by falling score, equal ones by name."""
    import bm25s  # type: ignore[import-untyped]  # noqa: PLC0415 - carries no types; heavy, and mostly not needed

    names = sorted(sources)
    index = bm25s.BM25()
    index.index([_words(f"{name}\n{sources[name]}") for name in names], show_progress=False)
    scores = index.get_scores(_words(f"{case.title}\n{case.body}"))
    return [name for _, name in sorted(zip(-scores.round(6), names, strict=True))]


def _sources(tree: Path, read: Callable[[Path], str]) -> dict[str, str]:
    files = (path for path in tree.rglob("*.py") if "tests" not in path.relative_to(tree).parts)
    return {path.relative_to(tree).as_posix(): read(path) for path in files}


def _read_foreign(path: Path) -> str:
    """Somebody's source may be in any encoding: the words of its code are ASCII in most of them."""
    return path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]

"""Search by words: BM25 over the pieces of identifiers, the part of code search that meaning alone gets wrong."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from triage.aside import Told, untold
from triage.codebase.packed import packed, unpacked

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
_REMEMBERED: Final = 1_000
"""Texts whose tokens are kept: most trees of one codebase differ in a file or two."""
_SCORES: Final = ("data", "indices", "indptr")
_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def code_tokens(text: str) -> list[str]:
    """Identifiers in lower case, whole and split at underscores and capitals: `readFile_v2` gives
    readfile_v2, read, file, v, 2.
    """
    tokens: list[str] = []
    for word in _WORD.findall(text):
        pieces = [piece.lower() for piece in _PIECE.findall(word)]
        tokens += pieces if pieces == [word.lower()] else [word.lower(), *pieces]
    return tokens


@lru_cache(_REMEMBERED)
def _tokens_of(text: str) -> list[str]:
    return code_tokens(text)


class WordIndex:
    """BM25 (Lucene's variant, the library's default) over a fixed list of texts."""

    def __init__(self, texts: Sequence[str], told: Told = untold) -> None:
        # Heavy, and a run that never searches does not need it; ships no types.
        import bm25s  # type: ignore[import-untyped]  # noqa: PLC0415

        tokens: list[list[str]] = []
        for n, text in enumerate(texts):
            told("reading words", n, len(texts))
            tokens.append(_tokens_of(text))
        if not any(tokens):
            tokens = [[""]] * max(1, len(texts))  # the library cannot do without a single word
        self._index = bm25s.BM25()
        self._index.index(tokens, show_progress=False)

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The index that `arrays` was taken from."""
        import bm25s  # noqa: PLC0415  # as above

        self = cls.__new__(cls)
        self._index = bm25s.BM25()
        self._index.scores = {name: arrays[name] for name in _SCORES} | {"num_docs": int(arrays["num_docs"])}
        self._index.vocab_dict = {word: number for number, word in enumerate(unpacked(arrays["vocabulary"]))}
        self._index.nonoccurrence_array = None
        return self

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, for a file."""
        numbers = self._index.vocab_dict
        scores = {name: np.asarray(self._index.scores[name]) for name in (*_SCORES, "num_docs")}
        return {"vocabulary": packed(sorted(numbers, key=numbers.__getitem__)), **scores}

    def scores(self, query: str) -> list[float]:
        """One score per text, rounded to 4 decimals; 0 where no word is shared."""
        tokens = [token for token in code_tokens(query) if token in self._index.vocab_dict]
        if not tokens:
            return [0.0] * int(self._index.scores["num_docs"])
        return [round(float(score), 4) for score in self._index.get_scores(tokens)]

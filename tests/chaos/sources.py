"""Source files that a careless or hostile hand has damaged, and folders that lead out of a checkout.

Each damaged file has to be cut: every line with text is in exactly one chunk, and no chunk is longer than its bound.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.goals.languages import sources
from tests.chaos.row import Row
from triage.codebase.chunk import MAX_CHARS, chunks_of
from triage.codebase.source_files import read_sources, sources_of
from triage.codebase.symbols import by_suffix
from triage.errors import InputError

ROUNDS: Final = 200
"""Damaged files for each language."""
PIECES: Final = ("{", "}", "(", "`", '"', "/*", "\n", "\x0b", "é", "#if 0\n", "end\n", "class A {", "=> {", "<T>", "::")
OUT: Final = ("..", "../secret", "in/../../secret", "/", "link", "link/deeper", "in/link", ".git", "in/.git", "file")
"""Folders outside of a checkout, links, and what is no folder."""


def rows(folder: Path, share: float, seed: int) -> list[Row]:
    """One row for the files, one for the folders."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    texts = list(sources().values())
    tried = against = 0
    for suffix in by_suffix():
        for _ in range(max(1, round(ROUNDS * share))):
            tried += 1
            against += not is_whole(f"damaged{suffix}", damaged(chance.choice(texts), chance))
    return [
        Row("damaged source files: a line lost, doubled or in too long a chunk", tried, against),
        Row("`--path` that leads out of the checkout: something was read", len(OUT), sum(escapes(folder))),
    ]


def damaged(text: str, chance: random.Random) -> str:
    """The text with a few cuts, repetitions and stray pieces."""
    for _ in range(chance.randint(1, 6)):
        first, last = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        way = chance.randrange(3)
        if way == 0:
            text = text[:first] + text[last:]
        elif way == 1:
            text = text[:last] + text[first:]
        else:
            text = text[:first] + chance.choice(PIECES) * chance.randint(1, 80) + text[first:]
    return text


def is_whole(path: str, text: str) -> bool:
    """Whether the chunks hold every line with text once, within their bound."""
    chunks = chunks_of(path, text)
    covered = [n for chunk in chunks for n in range(chunk.start, chunk.end + 1)]
    wanted = {n for n, line in enumerate(text.split("\n"), 1) if line.strip()}
    return (
        len(covered) == len(set(covered)) and wanted <= set(covered) and all(len(c.text) <= MAX_CHARS for c in chunks)
    )


def escapes(folder: Path) -> Iterator[bool]:
    """Whether each of the folders in `OUT` is read."""
    root = folder / "checkout"
    for name in ("checkout/in/.git", "checkout/.git", "secret/deeper"):
        (folder / name).mkdir(parents=True)
        (folder / name / "secret.ts").write_text("function secret() {\n}\n")
    (root / "file").write_text("text\n")
    for link in ("link", "in/link"):
        (root / link).symlink_to(folder / "secret")
    for path in OUT:
        try:
            yield bool(read_sources(sources_of([root], [path]))[0])
        except InputError:
            yield False

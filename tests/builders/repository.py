"""Small repositories for tests, and an embedder that needs no model."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from triage.codebase.embed import DIMENSIONS, Vectors
from triage.codebase.index import CodebaseIndex

FILES = {
    "shop/cart.py": "class Cart:\n    def add(self, sku, quantity):\n        self.lines[sku] = quantity\n",
    "shop/mail.py": "def send_receipt(address):\n    return f'to {address}'\n",
    "shop/tax.py": "RATE = 0.2\n\n\ndef with_tax(price):\n    return price * (1 + RATE)\n",
    "README.md": "# Shop\n\nSells things.\n",
}


class HashEmbedder:
    """Unit vectors drawn from a digest of the text: equal texts are equal, everything else is unrelated."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [np.random.default_rng(_seed(text)).normal(size=DIMENSIONS) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float16).reshape(-1, DIMENSIONS)


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def a_repository(root: Path, files: dict[str, str | bytes] | None = None) -> Path:
    """A tree of files below `root`; a shop unless `files` say otherwise."""
    for name, content in (FILES if files is None else files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def an_index(root: Path, files: dict[str, str | bytes] | None = None) -> CodebaseIndex:
    """The index of `a_repository`."""
    return CodebaseIndex.build(a_repository(root, files), HashEmbedder())

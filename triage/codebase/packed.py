"""Texts as one array of bytes: numpy would give each of them the room of the longest."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Packed = NDArray[np.uint8]


def packed(texts: Iterable[str]) -> Packed:
    """The texts, none of which may hold a NUL, in one array of shape (bytes,)."""
    return np.frombuffer("\0".join(texts).encode(), dtype=np.uint8)


def unpacked(array: Packed) -> list[str]:
    """The texts in the array; of no text at all, one empty one."""
    return array.tobytes().decode().split("\0")

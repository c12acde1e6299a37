"""Which part of a run's trials one machine takes: dealt out in order, so that all get alike many."""

import re
from dataclasses import dataclass
from typing import Final

from evals.errors import ConfigurationError

_WRITTEN: Final = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True)
class Share:
    """Share `number` of `of`, counted from 1. What is dealt out is a case and a sample, with all its variants."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> "Share":
        """`2/3`: the second of three.

        Raises:
            ConfigurationError: anything else.
        """
        found = _WRITTEN.fullmatch(text)
        if found is None or int(found[1]) > int(found[2]):
            raise ConfigurationError(f"--shard {text}: write NUMBER/OF, counted from 1, such as 2/3")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number} of {self.of}"

    def has(self, position: int) -> bool:
        """Whether the one at `position`, counted from 0, is in it."""
        return position % self.of == self.number - 1

    def size(self, whole: int) -> int:
        """How many of `whole` are in it."""
        return len(range(self.number - 1, whole, self.of))


WHOLE: Final = Share()

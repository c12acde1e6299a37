"""Long texts, by number: a part of the page says which it shows, and where a text stands twice it is kept once."""


class Texts:
    """A pool of texts. `add` takes one and gives the number under which the page finds it again."""

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}

    def add(self, text: str) -> str:
        """The number of the text, as the page writes it; equal texts share one."""
        return self._numbers.setdefault(text, str(len(self._numbers)))

    def all(self) -> tuple[str, ...]:
        """The texts in order of their numbers."""
        return tuple(self._numbers)

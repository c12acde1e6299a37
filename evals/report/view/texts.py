"""Long texts, by number: a part of the page says which it shows, and where a text stands twice it is kept once."""


class Number(str):
    """The number of a text, as the page writes it: no word of the page, though it looks like one."""

    __slots__ = ()


class Texts:
    """A pool of texts. `add` takes one and gives the number under which the page finds it again."""

    def __init__(self) -> None:
        self._numbers: dict[str, Number] = {}

    def add(self, text: str) -> Number:
        """The number of the text; equal texts share one."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = Number(len(self._numbers))
        return number

    def all(self) -> tuple[str, ...]:
        """The texts in order of their numbers."""
        return tuple(self._numbers)

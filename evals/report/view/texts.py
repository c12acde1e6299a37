"""Long texts, stored once: successive contexts repeat each other line by line, and so do the variants' findings."""

from evals.report.inert import visible


class Texts:
    """A pool of lines. `add` takes a text and gives the number under which the page finds it again."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._texts: dict[tuple[int, ...], int] = {}

    def add(self, text: str) -> str:
        """The number of the text, as the page writes it; equal texts share one."""
        numbers = (self._lines.setdefault(line, len(self._lines)) for line in visible(text).split("\n"))
        return str(self._texts.setdefault(_runs(list(numbers)), len(self._texts)))

    def pool(self) -> dict[str, list[str] | list[tuple[int, ...]]]:
        """`lines`, and `texts` as runs `start, length, start, length…` of them."""
        return {"lines": list(self._lines), "texts": list(self._texts)}


def _runs(numbers: list[int]) -> tuple[int, ...]:
    """`[4, 5, 6, 2]` as `(4, 3, 2, 1)`."""
    runs: list[int] = []
    for number in numbers:
        if runs and number == runs[-2] + runs[-1]:
            runs[-1] += 1
        else:
            runs += [number, 1]
    return tuple(runs)

"""Where texts stand in a table of pieces: one is spelled out when it is first asked for, and never again."""

from collections.abc import Callable


class Places(dict[str, int]):
    """Text -> the place in the table of what `spelled` makes of it; it is put there when it is first asked for."""

    def __init__(self, table: dict[str, int], spelled: Callable[[str], str]) -> None:
        self._table = table
        self._spelled = spelled

    def __missing__(self, text: str) -> int:
        place = self[text] = self._table.setdefault(self._spelled(text), len(self._table))
        return place

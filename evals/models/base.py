"""Base classes of the models: closed, with the digest of their own content, or shown as pandas tables."""

import hashlib
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    import pandas as pd

    from evals.models.run import Run


class Closed(BaseModel):
    """Frozen, closed to unknown keys, and without NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)


class Sealed(Closed):
    """A model that is written with the digest of its content (sha256, hex); empty where it was not written yet."""

    content_sha256: str = ""

    def sealed(self) -> Self:
        """The same with its digest."""
        return self.model_copy(update={"content_sha256": self._digest()})

    @property
    def intact(self) -> bool:
        """Whether the digest is that of the content."""
        return self.content_sha256 == self._digest()

    def pieces(self, *, indent: int | None = None) -> Iterator[str]:
        """The JSON text, members by their aliases, piece by piece: a run of many trials takes gigabytes as one text."""
        yield from self._pieces([*type(self).model_fields], indent)

    def _digest(self) -> str:
        found = hashlib.sha256()
        for piece in self._pieces([name for name in type(self).model_fields if name != "content_sha256"], None):
            found.update(piece.encode())
        return found.hexdigest()

    def _pieces(self, names: list[str], indent: int | None) -> Iterator[str]:
        line, item = ("", "") if indent is None else ("\n", "\n" + 2 * indent * " ")
        yield "{"
        for number, name in enumerate(names):
            value = getattr(self, name)
            rows = value if isinstance(value, tuple) and value and isinstance(value[0], Closed) else ()
            rest = self.model_copy(update={name: ()}) if rows else self
            member = rest.model_dump_json(by_alias=True, include={name}, indent=indent)
            if rows and member == "{}":  # it is left out where it is empty, and it is not
                member = f'{{{line}{(indent or 0) * " "}"{name}":{" " if line else ""}[]{line}}}'
            if member == "{}":  # a field that is left out where it is empty, so that older digests still hold
                continue
            yield ("," if number else "") + member[1 : -1 - len(line)].removesuffix("]" if rows else "")
            for place, row in enumerate(rows):
                text = row.model_dump_json(by_alias=True, indent=indent)
                yield ("," if place else "") + item + text.replace("\n", item)
            if rows:
                yield line + (indent or 0) * " " + "]"
        yield line + "}"


class Tabular(Sealed):
    """What gives its trials as rows."""

    def frame(self: "Run", rows: str = "scores", *, by_decision: bool = False) -> "pd.DataFrame":  # type: ignore[misc]  # there is but one
        """A row per score, or per decision, step or call (`rows`); columns as in `evals.report.data_frames`."""
        from evals.report.data_frames import frame  # noqa: PLC0415 - pandas waits until a table is asked for

        return frame(self, "decisions" if by_decision else rows)

    def __repr__(self: "Run") -> str:  # type: ignore[misc]  # as above
        sides = f"{self.candidate} against {self.reference}"
        return f"<Run {self.suite}: {sides}, {len(self.trials)} trials, {self.verdict.status}>"

    __str__ = __repr__

    def _repr_html_(self: "Run") -> str:  # type: ignore[misc]  # as above
        return f"<b>{escape(self.verdict.sentence)}</b><p>{escape(repr(self))}</p>"

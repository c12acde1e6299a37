"""Interactions (request and answer) and cassettes as values."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from evals.cassettes import cassette_format as vcr_file
from evals.cassettes.cassette_schema import Usage
from evals.models.base import Closed

ORIGIN: Final = "http://recorded.invalid"
"""Stands for whatever host was asked. Stock vcrpy matches with `match_on=[method, path, query, body]`, or with its
defaults plus body if the client's base URL is this one."""
CONTENT_TYPE: Final = "application/json"
_WORDS_COMPARED: Final = 4000  # of one text: bounds the time a pasted log can take


class Interaction(Closed):
    """A request and its answer. `uri` is the path with its query; `request` and `response` are JSON objects."""

    key: str
    agent: str
    sample: Annotated[int, Field(ge=0)] = 0
    model: str
    method: str = "POST"
    uri: str
    request: dict[str, Any]
    status: Annotated[int, Field(ge=200, le=299)] = 200
    content_type: str = CONTENT_TYPE
    response: dict[str, Any]
    recorded_at: str
    usage: Usage = Usage()
    latency_ms: Annotated[float, Field(ge=0)] = 0.0
    recorded_by: str | None = None

    @cached_property
    def body(self) -> bytes:
        """The answer as bytes, the same text as in the file."""
        return vcr_file.json_text(self.response).encode()

    @cached_property
    def answer(self) -> bytes:
        """All but the request: two interactions are answered alike where this is equal."""
        return json.dumps(self.model_dump(exclude={"request"})).encode()

    @property
    def body_sent(self) -> bytes:
        """The request's body as bytes, redacted."""
        return vcr_file.json_text(self.request).encode()

    @cached_property
    def words(self) -> Counter[str]:
        """The words of the request, by which it is compared with others."""
        return words_of(self.request)


def words_of(body: Mapping[str, Any]) -> Counter[str]:
    """How often each word stands in the texts of a request."""
    words: Counter[str] = Counter()
    for text in texts_of(body):
        words.update(text.split()[:_WORDS_COMPARED])
    return words


def texts_of(value: object) -> Iterator[str]:
    """Every value in a JSON value that holds no other, as text."""
    if isinstance(value, Mapping):
        for member in value.values():
            yield from texts_of(member)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    else:
        yield str(value)


class Cassette:
    """The interactions of one file. `exists` tells "no file" from "a file with nothing in it". `tree` names the
    released package whose lines the file only refers to; None for all other cases."""

    def __init__(
        self, path: Path, interactions: Iterable[Interaction] = (), *, exists: bool = True, tree: str | None = None
    ) -> None:
        self.path = path
        self.exists = exists
        self.tree = tree
        self.interactions = tuple(sorted(interactions, key=order))
        self._samples = {(interaction.key, interaction.sample): interaction for interaction in self.interactions}

    def exact(self, key: str, sample: int = 0) -> Interaction | None:
        """The answer recorded as this very sample: another one in its place would make five samples out of one."""
        return self._samples.get((key, sample))

    def union(self, others: Iterable[Interaction]) -> "Cassette":
        """This cassette and what it lacks; an answer that is here stays."""
        merged = {(other.key, other.sample): other for other in others}
        merged |= {(own.key, own.sample): own for own in self.interactions}
        return Cassette(self.path, merged.values(), exists=self.exists, tree=self.tree)


def order(interaction: Interaction) -> tuple[str, str, int]:
    """Where an interaction stands in its file."""
    return interaction.agent, interaction.key, interaction.sample

"""A dataset of LangSmith kept like ours: what it lacks is created, what differs is updated, what is the same stays."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from langsmith.schemas import ExampleCreate, ExampleUpdate
from langsmith.utils import LangSmithConflictError, LangSmithNotFoundError

from evals.errors import ServiceError
from evals.langsmith.examples import CASE, DIGEST, CaseExample
from evals.langsmith.identity import example_id
from evals.langsmith.service import Service, id_of

BATCH: Final = 50
"""Examples of one request: a cut connection costs no more."""
_TRIES: Final = 3
_TOO_LARGE: Final = 413
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Standing:
    """How a dataset there stands to the examples here. `strange` are examples there of no case here."""

    new: tuple[CaseExample, ...]
    changed: tuple[CaseExample, ...]
    same: int
    strange: int


def find_dataset(service: Service, name: str) -> UUID | None:
    """The id of the dataset of that name; None if there is none."""
    with service.doing(f"reading dataset {name}"):
        try:
            return id_of(service.client.read_dataset(dataset_name=name).id)
        except LangSmithNotFoundError:
            return None


def need_dataset(service: Service, name: str, description: str) -> UUID:
    """The same, made if there is none."""
    if (found := find_dataset(service, name)) is not None:
        return found
    with service.doing(f"making dataset {name}"):
        try:
            return id_of(service.client.create_dataset(name, description=description).id)
        except LangSmithConflictError:  # made meanwhile, or by a request whose answer was lost
            pass
    if (found := find_dataset(service, name)) is None:
        raise ServiceError(f"{service.url}: dataset {name} is said to be there, and is not found; run this again")
    return found


def digests_there(service: Service, dataset: UUID) -> dict[UUID, tuple[str, str]]:
    """Example -> the case it is of, and the digest it was sent with; empty where it is not ours."""
    with service.doing("listing the examples"):
        listed = service.client.list_examples(dataset_id=dataset, select=["metadata"], exclude_default_fields=True)
        rows = [(id_of(each.id), each.metadata or {}) for each in listed]
    return {one: (str(told.get(CASE, "")), str(told.get(DIGEST, ""))) for one, told in rows}


def standing(service: Service, dataset: UUID, examples: Sequence[CaseExample]) -> Standing:
    """What of these is there."""
    there = digests_there(service, dataset)
    here = {example_id(dataset, each.case_id): each for each in examples}
    known = {one: each for one, each in here.items() if one in there}
    changed = tuple(each for one, each in known.items() if there[one][1] != each.digest)
    return Standing(
        new=tuple(each for one, each in here.items() if one not in there),
        changed=changed,
        same=len(known) - len(changed),
        strange=len(there.keys() - here.keys()),
    )


def bring_up_to_date(
    service: Service, dataset: UUID, examples: Sequence[CaseExample], say: Progress = lambda _done, _of: None
) -> Standing:
    """Send what is lacking and what differs; returns how it stood before. `say` hears how many are sent, of how many.

    Raises:
        ServiceError: not all were taken; what was taken stays, and the same call goes on from there.
    """
    before = now = standing(service, dataset, examples)
    for _ in range(_TRIES):
        try:
            for done in _sent(service, dataset, now):
                say(done, len(now.new) + len(now.changed))
        except _AlreadyThereError:  # an answer was lost, or somebody else sends the same: look again
            now = standing(service, dataset, examples)
        else:
            return before
    raise ServiceError(f"{service.url}: somebody else changes the same dataset; run this again when they are done")


def _sent(service: Service, dataset: UUID, wanted: Standing) -> Iterator[int]:
    client, done = service.client, 0

    def create(rows: Sequence[Any]) -> None:
        client.create_examples(dataset_id=dataset, examples=list(rows))

    def update(rows: Sequence[Any]) -> None:
        client.update_examples(dataset_id=dataset, updates=list(rows))

    for send, rows in (
        (create, [each.new(dataset) for each in wanted.new]),
        (update, [each.update(dataset) for each in wanted.changed]),
    ):
        for at in range(0, len(rows), BATCH):
            batch = rows[at : at + BATCH]
            _halved(service, send, batch)
            done += len(batch)
            yield done


def _halved(
    service: Service, send: Callable[[Sequence[Any]], None], rows: Sequence[ExampleCreate | ExampleUpdate]
) -> None:
    """Send the rows, those that are too large for one request in halves."""
    try:
        with service.doing(f"sending {len(rows)} examples"):
            try:
                send(rows)
            except LangSmithConflictError as error:
                raise _AlreadyThereError from error
    except ServiceError as error:
        if error.status != _TOO_LARGE or len(rows) == 1:
            raise
        _halved(service, send, rows[: len(rows) // 2])
        _halved(service, send, rows[len(rows) // 2 :])


class _AlreadyThereError(Exception):
    """An example is there that was not there a moment ago."""

"""A LangSmith dataset kept equal to ours, and scorers as LangSmith evaluators."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from langsmith.schemas import Example, ExampleCreate, ExampleUpdate, Run
from langsmith.utils import LangSmithConflictError, LangSmithNotFoundError

from evals.content_cache import digest_of
from evals.errors import ConfigurationError, ServiceError
from evals.langsmith.langsmith_client import Service, id_of
from evals.langsmith.trial_runs import example_id
from evals.models.base import Closed
from evals.models.case import Case
from evals.models.metrics import Failed, Scored, Skipped
from evals.models.trace import Trace
from evals.scoring.registry import scorers
from evals.scoring.scorer import Scorer, score
from evals.workspace import Workspace

DIGEST: Final = "evals_digest"
CASE: Final = "case"


class CaseExample(Closed):
    """What is sent of a case. `inputs` begin a job; `outputs` are its labels, without those its source does not state;
    `metadata` is what an experiment is filtered by."""

    case_id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    metadata: dict[str, Any]
    split: str

    @property
    def digest(self) -> str:
        """Of all of it (sha256, hex)."""
        return digest_of(json.dumps(self.model_dump(mode="json"), sort_keys=True).encode())

    @property
    def size(self) -> int:
        """Bytes of its JSON."""
        return len(self.model_dump_json().encode())

    def new(self, dataset: UUID) -> ExampleCreate:
        """As it is created."""
        return ExampleCreate.model_validate({**self._told(dataset), "reference_outputs": self.outputs})

    def update(self, dataset: UUID) -> ExampleUpdate:
        """As one that is there already becomes this one."""
        return ExampleUpdate.model_validate({**self._told(dataset), "outputs": self.outputs})

    def _told(self, dataset: UUID) -> dict[str, Any]:
        return {
            "id": example_id(dataset, self.case_id),
            "inputs": self.inputs,
            "metadata": {**self.metadata, DIGEST: self.digest},
            "split": self.split,
        }


def example_of(case: Case) -> CaseExample:
    """The example of a case."""
    labels = case.labels
    return CaseExample(
        case_id=case.id,
        inputs=case.inputs or {"title": case.title, "body": case.body, "url": case.url, "repository": case.repository},
        outputs={name: value for name, value in _labels(case).items() if name not in labels.unlabelled},
        metadata={
            CASE: case.id,
            "case_digest": case.digest,
            "tags": list(labels.tags),
            "cluster": case.cluster,
            "must_pass": case.must_pass,
            "slice": labels.kind,
        },
        split=labels.split,
    )


def _labels(case: Case) -> dict[str, Any]:
    """By the names of the case's file; `route` are constraints, `routes` exemplars."""
    ways = case.route_spec.alternatives
    return {
        **case.known.shown(),
        "question": case.known.question.policy,
        "route": [rule.model_dump(mode="json") for way in ways for rule in way.constraints],
        "routes": [list(route) for way in ways for route in way.exemplars],
    }


BATCH: Final = 50
"""Examples of one request: a cut connection costs no more."""
_TRIES: Final = 3
_TOO_LARGE: Final = 413
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class DatasetState:
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


def standing(service: Service, dataset: UUID, examples: Sequence[CaseExample]) -> DatasetState:
    """What of these is there."""
    there = digests_there(service, dataset)
    here = {example_id(dataset, each.case_id): each for each in examples}
    known = {one: each for one, each in here.items() if one in there}
    changed = tuple(each for one, each in known.items() if there[one][1] != each.digest)
    return DatasetState(
        new=tuple(each for one, each in here.items() if one not in there),
        changed=changed,
        same=len(known) - len(changed),
        strange=len(there.keys() - here.keys()),
    )


def bring_up_to_date(
    service: Service, dataset: UUID, examples: Sequence[CaseExample], say: Progress = lambda _done, _of: None
) -> DatasetState:
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


def _sent(service: Service, dataset: UUID, wanted: DatasetState) -> Iterator[int]:
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


OURS: Final = "triage-evals"


def name_of(workspace: Workspace) -> str:
    """The project's own dataset by its name (of a target's, its folder's), any other one behind it."""
    project = workspace.root.resolve().name if workspace.pack.own_endpoint else OURS
    own = workspace.datasets == workspace.root / workspace.project.cases
    return project if own else f"{project}/{workspace.datasets.name}"


TRACE: Final = "trace"
"""The member of a target's outputs that scorers read."""
HERE: Final = Path()
Evaluator = Callable[[Run, Example | None], dict[str, Any]]


def evaluators(names: Sequence[str] = (), *, root: Path = HERE, dataset: Path | None = None) -> list[Evaluator]:
    """One evaluator for each of our scorers, or those named, under our keys. They score the trace in the outputs,
    by the labels of the case an example was made of. A score that does not apply is none, not 0.

    Args:
        names: names of scorers, such as `route.pass`; all if there are none.
        root: the checkout whose dataset the examples were made of.
        dataset: another dataset of the checkout, by folder or name.

    Raises:
        ConfigurationError: no scorer of that name, or no dataset there. DatasetError: it is wrong.
    """
    workspace = Workspace.at(root, dataset)
    known = {scorer.name: scorer for scorer in scorers(workspace.pack)}
    if odd := [name for name in names if name not in known]:
        raise ConfigurationError(f"no scorer is called {odd[0]!r}; docs/metrics.md lists them")
    cases = workspace.pack.load_cases(workspace.datasets)
    return [_evaluator(scorer, cases) for name, scorer in known.items() if not names or name in names]


def _evaluator(scorer: Scorer, cases: dict[str, Case]) -> Evaluator:
    def evaluate(run: Run, example: Example | None) -> dict[str, Any]:
        case = _case_of(example, cases)
        told = (run.outputs or {}).get(TRACE)
        if told is None:
            raise ConfigurationError("the target's outputs have no `trace` (form of run.json): add one")
        return {"results": _results(scorer, case, Trace.model_validate(told))}

    evaluate.__name__ = scorer.name
    evaluate.__doc__ = scorer.definition
    return evaluate


def _results(scorer: Scorer, case: Case, trace: Trace) -> list[dict[str, Any]]:
    match score(scorer, case, trace):
        case Scored(value=value):
            return [{"key": scorer.name, "score": value}]
        case Failed(error=error):
            raise RuntimeError(error)  # the SDK makes it feedback that says so
        case Skipped():
            return []


def _case_of(example: Example | None, cases: dict[str, Case]) -> Case:
    name = str(((example.metadata if example else None) or {}).get(CASE, ""))
    if name not in cases:
        raise ConfigurationError(f"the example is of no case here ({name or 'it names none'}): push the dataset first")
    return cases[name]

"""Feedback of people in a LangSmith queue, as notes."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langsmith.schemas import Feedback

from evals.errors import ConfigurationError
from evals.langsmith.dataset_sync import CASE
from evals.langsmith.feedback import SOURCE
from evals.langsmith.langsmith_client import Service
from evals.langsmith.trace_import import QueuedRun, ReadRun, queued, runs_by_id
from evals.secrets.allowed_secrets import AllowedSecrets
from evals.secrets.secret_filter import fit_to_write
from evals.triage.dataset.case_notes import Note

_AT_ONCE: Final = 50
_PEOPLE: Final = ("app", "api")
"""Who people's feedback comes from; a model's word is no note."""


@dataclass
class QueueFeedback:
    """What a queue has to say: notes by case, and how many are on runs of no case."""

    runs: int = 0
    notes: dict[str, list[Note]] = field(default_factory=dict)
    strange: int = 0


@dataclass(frozen=True)
class _About:
    case: str
    variant: str


def heard(service: Service, queue: str, allowed: AllowedSecrets) -> QueueFeedback:
    """The feedback on all runs of the queue of that name; a text that holds a secret is withheld.

    Raises:
        ConfigurationError: there is no such queue. ServiceError: it cannot be read.
    """
    with service.doing(f"reading queue {queue}"):
        known = [each for each in service.client.list_annotation_queues(name=queue) if each.name == queue]
    if not known:
        raise ConfigurationError(f"{service.url} has no annotation queue {queue!r}; --queue takes its whole name")
    with service.doing(f"listing queue {queue}"):
        runs, read = asyncio.run(_runs(service, str(known[0].id)))
    cases = _cases(service, read)
    found = QueueFeedback(runs=len(runs))
    for said in _feedback(service, [run.run for run in runs]):
        about = cases.get(str(said.run_id))
        if about is None:
            found.strange += 1
        else:
            found.notes.setdefault(about.case, []).append(_note(said, queue, about.variant, allowed))
    return found


async def _runs(service: Service, queue: str) -> tuple[list[QueuedRun], list[ReadRun]]:
    """What stands in the queue, and the runs themselves with the roots of their traces."""
    runs = await queued(service, queue)
    read: list[ReadRun] = []
    for project in dict.fromkeys(run.project for run in runs):
        some = await runs_by_id(service, project, [run.run for run in runs if run.project == project])
        roots = {run.trace for run in some} - {run.id for run in some}
        read += [*some, *await runs_by_id(service, project, sorted(roots))]
    return runs, read


def _cases(service: Service, runs: Sequence[ReadRun]) -> dict[str, _About]:
    """Run -> the case it, or the trial it is part of, is about: by what we sent with it, else by its example."""
    by_id = {run.id: run for run in runs}
    roots = {run.id: by_id.get(run.trace, run) for run in runs}
    unknown = sorted({root.example for root in roots.values() if root.example and CASE not in root.metadata})
    with service.doing("reading examples"):
        rows = service.client.list_examples(example_ids=unknown) if unknown else ()
        examples = {str(row.id): str((row.metadata or {}).get(CASE, "")) for row in rows}
    found = {
        one: _About(
            str(root.metadata.get(CASE) or examples.get(root.example, "")), str(root.metadata.get("variant", ""))
        )
        for one, root in roots.items()
    }
    return {one: about for one, about in found.items() if about.case}


def _feedback(service: Service, runs: Sequence[str]) -> list[Feedback]:
    found: list[Feedback] = []
    for at in range(0, len(runs), _AT_ONCE):
        with service.doing("reading feedback"):
            found += service.client.list_feedback(run_ids=runs[at : at + _AT_ONCE])
    return [said for said in found if _is_a_persons(said)]


def _is_a_persons(said: Feedback) -> bool:
    source = said.feedback_source
    ours = source is not None and SOURCE.items() <= (source.metadata or {}).items()
    return source is None or (source.type in _PEOPLE and not ours)


def _note(said: Feedback, queue: str, variant: str, allowed: AllowedSecrets) -> Note:
    told: dict[str, Any] = {
        "id": str(said.id),
        "at": said.modified_at.isoformat(timespec="seconds"),
        "queue": queue,
        "run": str(said.run_id),
        "variant": variant,
        "key": said.key,
        "score": said.score,
        "value": said.value,
        "comment": said.comment or "",
        "correction": said.correction,
    }
    return Note.model_validate_json(fit_to_write(json.dumps(told, ensure_ascii=False), allowed))

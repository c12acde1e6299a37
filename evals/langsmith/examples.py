"""A case as an example: what the team is given, what the label wants, and by which digest its content is known."""

import json
from typing import Any, Final
from uuid import UUID

from langsmith.schemas import ExampleCreate, ExampleUpdate

from evals.kept import digest_of
from evals.langsmith.identity import example_id
from evals.models.case import Case
from evals.models.closed import Closed

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
        inputs={"title": case.title, "body": case.body, "url": case.url, "repository": case.repository},
        outputs={name: value for name, value in _labels(case).items() if name not in labels.unlabelled},
        metadata={
            CASE: case.id,
            "case_digest": case.digest,
            "archetype": labels.archetype,
            "tags": list(labels.tags),
            "cluster": case.cluster,
            "must_pass": case.must_pass,
            "codebase": labels.codebase or labels.repository,
        },
        split=labels.split,
    )


def _labels(case: Case) -> dict[str, Any]:
    """By the names of `case.yaml`; `gold` is files."""
    labels = case.labels
    ways = case.route_spec.alternatives
    return {
        "root_cause": labels.root_cause,
        "category": labels.category,
        "severity": labels.severity,
        "gold": list(labels.gold.files),
        "functions": list(labels.gold.functions),
        "question": labels.question.policy,
        "routes": [list(route) for way in ways for route in way.exemplars],
    }

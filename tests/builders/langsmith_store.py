"""What a LangSmith of the tests holds, and what it thinks of what it gets: all is held against the SDK's own schemas.

A thing posted twice under one id is kept in `twice`; what the schemas refuse is answered with 422 and kept in
`refused`, so that a test can say that there was none.
"""

import datetime as dt
import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from langsmith import schemas
from pydantic import ValidationError

TENANT: Final = "11111111-1111-4111-8111-111111111111"
MEMBERS: Final = {*schemas.RunLikeDict.__annotations__} | {"session_name", "tags", "child_runs", "reference_dataset_id"}
RUN_TYPES: Final = {kind.value for kind in schemas.RunTypeEnum}
NOW: Final = "2026-11-23T08:00:00+00:00"
Json = dict[str, Any]


class Refused(Exception):  # noqa: N818 - as the service calls it
    """What the service would not take: a status, and why."""

    def __init__(self, status: int, why: str) -> None:
        self.status, self.why = status, why
        super().__init__(why)


@dataclass
class Store:
    """Everything that was kept, by id; ids are texts. Like every tenant it has a project `default`."""

    datasets: dict[str, Json] = field(default_factory=dict)
    examples: dict[str, Json] = field(default_factory=dict)
    sessions: dict[str, Json] = field(default_factory=dict)
    runs: dict[str, Json] = field(default_factory=dict)
    feedback: dict[str, Json] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.new_session({"name": "default", "id": str(uuid.uuid4())}, upsert=False)

    def new_dataset(self, body: Json) -> Json:
        if any(each["name"] == body["name"] for each in self.datasets.values()):
            raise Refused(409, "Dataset with this name already exists.")
        told = {name: body.get(name) for name in ("name", "description", "data_type")}
        made = {**told, "id": str(uuid.uuid4()), "created_at": NOW, "metadata": body["extra"]["metadata"]}
        _checked(lambda: schemas.Dataset(**made))
        self.datasets[made["id"]] = made
        return made

    def put_examples(self, dataset: str, parts: Mapping[str, Any], *, new: bool) -> Json:
        """The parts of one multipart request: `ID`, `ID.inputs`, `ID.outputs`."""
        if dataset not in self.datasets:
            raise Refused(404, "Dataset not found")
        ids = [name for name in parts if "." not in name]
        for one in ids:
            self._put_example(dataset, one, parts, new=new)
        return {"count": len(ids), "example_ids": ids, "as_of": NOW}

    def _put_example(self, dataset: str, one: str, parts: Mapping[str, Any], *, new: bool) -> None:
        head, inputs, outputs = parts[one], parts.get(f"{one}.inputs"), parts.get(f"{one}.outputs")
        if new:
            _checked(lambda: schemas.ExampleCreate(id=one, inputs=inputs, reference_outputs=outputs, **head))
        else:
            _checked(lambda: schemas.ExampleUpdate(id=one, inputs=inputs, outputs=outputs, **head))
        if new == (one in self.examples):
            self.twice += [one] if new else []
            raise Refused(409 if new else 404, f"example {one}")
        split = head.get("split") or "base"
        metadata = {**(head.get("metadata") or {}), "dataset_split": [split] if isinstance(split, str) else split}
        kept = {"inputs": inputs, "outputs": outputs, "metadata": metadata}
        self.examples[one] = {"id": one, "dataset_id": dataset, "created_at": NOW, "modified_at": NOW, **kept}

    def new_session(self, body: Json, *, upsert: bool) -> Json:
        there = next((each for each in self.sessions.values() if each["name"] == body["name"]), None)
        if there is not None and not upsert:
            raise Refused(409, "Session already exists.")
        if body.get("reference_dataset_id") and str(body["reference_dataset_id"]) not in self.datasets:
            raise Refused(404, "Dataset not found")
        made = {"reference_dataset_id": None, "start_time": NOW, "end_time": None, "tenant_id": TENANT, **body}
        made |= {"id": there["id"], "start_time": there["start_time"]} if there else {}
        _checked(lambda: schemas.TracerSession(**made))
        self.sessions[made["id"]] = made
        return made

    def session_called(self, name: str) -> str:
        """The id of a project; one that nobody made is made, as the service does for traces."""
        found = next((key for key, each in self.sessions.items() if each["name"] == name), None)
        return found or str(self.new_session({"name": name, "id": str(uuid.uuid4())}, upsert=False)["id"])

    def put_run(self, operation: str, one: str, told: Json) -> None:
        known = self.runs.get(one)
        if operation == "patch":
            if known is None:
                raise Refused(404, f"Run {one} not found")
            told = {**known, **{name: value for name, value in told.items() if value is not None}}
        elif known is not None:
            self.twice.append(one)
            return  # as the service does: what was received is not received again
        if odd := sorted({*told} - MEMBERS):
            raise Refused(422, f"run {one}: no such member: {', '.join(odd)}")
        if told["run_type"] not in RUN_TYPES:
            raise Refused(422, f"run {one}: no such run_type: {told['run_type']}")
        self._check_place(one, told)
        session = told.get("session_id") or self.session_called(str(told.get("session_name") or "default"))
        if session not in self.sessions:
            raise Refused(404, f"Session {session} not found")
        if (example := told.get("reference_example_id")) and example not in self.examples:
            raise Refused(422, f"run {one}: no example {example}")
        kept = {name: value for name, value in told.items() if name != "session_name"} | {"session_id": session}
        _checked(lambda: schemas.Run(**{name: value for name, value in kept.items() if value is not None}))
        self.runs[one] = kept

    def _check_place(self, one: str, told: Json) -> None:
        """A run stands where its dotted order says: below its parent, which has come before it, in the root's trace."""
        places = str(told["dotted_order"]).split(".")
        ids = [place[-36:] for place in places]
        if ids[-1] != one or ids[0] != told["trace_id"]:
            raise Refused(422, f"run {one}: its dotted order is of another run or trace")
        parent = told.get("parent_run_id")
        if (ids[-2] if len(ids) > 1 else None) != (parent or None):
            raise Refused(422, f"run {one}: its dotted order names another parent")
        times = [place[:-36] for place in places]
        if times != sorted(times) or not re.fullmatch(r"\d{8}T\d{12}Z", times[-1]):
            raise Refused(422, f"run {one}: begins before its parent")

    def put_feedback(self, told: Json) -> None:
        _checked(lambda: schemas.FeedbackCreate(**{"run_id": None, "trace_id": None, **told}))
        score = told.get("score")
        if isinstance(score, float) and round(score, 4) != score:
            raise Refused(422, "score: at most 4 decimal places")
        if told.get("run_id") and told["run_id"] not in self.runs:
            raise Refused(404, f"Run {told['run_id']} not found")
        if told["id"] in self.feedback:
            self.twice.append(told["id"])
        self.feedback[told["id"]] = {"created_at": NOW, "modified_at": NOW, **told}

    def ingest(self, parts: Mapping[str, Any]) -> None:
        """The parts of one multipart request of traces: `post.ID`, `post.ID.inputs`, ..., `feedback.ID`."""
        heads = [name for name in parts if name.count(".") == 1]
        for head in heads:
            kind, one = head.split(".")
            if kind == "feedback":
                self.put_feedback(parts[head])
                continue
            below = {name.rsplit(".", 1)[1]: part for name, part in parts.items() if name.startswith(f"{head}.")}
            self.put_run(kind, one, {**parts[head], **below})

    def below(self, session: str) -> list[Json]:
        return [run for run in self.runs.values() if run["session_id"] == session]


def v2_run(run: Json) -> Json:
    """A run as the newer endpoints tell it."""
    told = {
        name: run.get(name)
        for name in ("name", "start_time", "end_time", "inputs", "outputs", "error", "extra", "tags")
    }
    ids = [place[-36:] for place in run["dotted_order"].split(".")]
    return {
        **{name: value for name, value in told.items() if value is not None},
        "id": ids[-1],
        "run_type": run["run_type"].upper(),
        "trace_id": run["trace_id"],
        "dotted_order": run["dotted_order"],
        "project_id": run["session_id"],
        "is_root": len(ids) == 1,
        "parent_run_ids": ids[:-1],
        "reference_example_id": run.get("reference_example_id"),
        "metadata": (run.get("extra") or {}).get("metadata") or {},
    }


def text_of(value: object) -> str:
    """The value as the service answers it."""
    return json.dumps(value, default=lambda one: one.isoformat() if isinstance(one, dt.datetime) else str(one))


def _checked(make: Any) -> None:
    try:
        make()
    except (ValidationError, TypeError, KeyError) as error:
        raise Refused(422, f"{type(error).__name__}: {error}") from error

"""Make a case of a stored live job."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from evals.cassettes import manifest
from evals.cassettes.cassette_files import merge_write
from evals.cassettes.cassette_format import json_text
from evals.cassettes.cassette_schema import excess
from evals.cassettes.interaction import Interaction
from evals.cassettes.live_answer import usage_of
from evals.cassettes.request_key import request_key
from evals.errors import ConfigurationError, RecordingError
from evals.secrets.secret_filter import redact_request, redact_response, scrub
from evals.triage.dataset.case_code import ABOUT, Codebase
from evals.triage.dataset.dataset_layout import Archetype, Layout
from evals.triage.dataset.new_case import labels_text, refuse_secrets, write_files
from evals.workspace import Workspace

if TYPE_CHECKING:
    from evals.triage.live_jobs import LiveJob, ServedRequest

OPEN: Final = ("archetype", "severity", "category", "root_cause", "gold", "functions", "question")
"""Labels that stand for nothing until a person has looked."""
KEYWORDS: Final = 8
"""Words of a question, the longest first, that are proposed to know it by."""
HEAD: Final = """# `as-it-ran` is what the job ran with. Change `edited` (its prompt, guards, models) and see
# what becomes of the case; `evals plan` says what has to be recorded for it.
"""
UNKNOWN: Final = "model-of-the-job"


@dataclass(frozen=True)
class NewCase:
    """What was written, and whether the job's traffic is among it, so that the case replays."""

    files: tuple[Path, ...]
    replays: bool


def case_of_job(
    case_id: str, job: "LiveJob", workspace: Workspace, archetype: Archetype, codebase: str | None = None
) -> NewCase:
    """Write case, code, a suite that runs it and, of kept traffic, its cassette.

    Raises:
        ConfigurationError: there is a recording of that name, or something in the job looks like a secret; nothing is
            written. SecretFoundError: the same, of its traffic.
    """
    layout, cassette = Layout(workspace.datasets), workspace.cassette(case_id)
    # its traffic is looked at where it is written
    told = job.model_dump(mode="json", include={"title", "body", "url", "asked", "states"})
    refuse_secrets(f"job {job.name}", told, cassette)
    if cassette.exists():
        raise ConfigurationError(f"{cassette}: there is a recording of that name; choose another id")
    served = _interactions_of(job.served, recorded_by=f"live job {job.name}")
    if served:
        merge_write(cassette, served, move=manifest.move_listed)  # refuses a secret before anything is written
    written = [*write_case(layout, case_id, job, archetype, codebase), *write_suite(layout, case_id, job)]
    return NewCase((*written, *([cassette] if served else [])), bool(served))


def write_case(layout: Layout, case_id: str, job: "LiveJob", archetype: Archetype, codebase: str | None) -> list[Path]:
    """Write the case, and its code as a codebase unless that is there; returns the files written, of code the last."""
    name = codebase or codebase_name(job)
    last = layout.codebase(name) / (ABOUT if codebase is None else "")  # a kill may have left part of our own
    written = [] if last.exists() else [_write_code(layout.codebase(name), job)]
    labels = labels_text(
        case_id,
        archetype,
        "job",
        OPEN,
        codebase=name,
        source=_flow({"source": "job", "name": job.name, "url": job.url}),
        # what the person said is what the simulated user says, to whoever asks in the same words
        asked=[{"keywords": _flow(_keywords(one.question)), "answer": _flow(one.answer)} for one in job.asked],
        went=", ".join(job.route),
        states=_candidates(job.states),
    )
    issue = f"# {job.title}\n\n{job.body}\n"
    return [*written, *write_files({layout.labels(case_id): labels, layout.issue(case_id): issue})]


def codebase_name(job: "LiveJob") -> str:
    """What the code is called in the dataset: jobs on the same code share it."""
    content = hashlib.sha256(repr(sorted(job.code.items())).encode("utf-8", "surrogatepass")).hexdigest()
    plain = re.sub(r"[^\w.-]+", "-", job.repository)
    return f"{plain}-{content[:12]}"


def _write_code(folder: Path, job: "LiveJob") -> Path:
    write_files({folder / name: text for name, text in job.code.items()})
    description = f"What the live job {job.name} could read of its checkout."
    about = Codebase(repository=job.repository, description=description, revision=job.revision)
    (folder / ABOUT).write_text(yaml.safe_dump(about.model_dump(), sort_keys=False), encoding="utf-8")
    return folder / ABOUT


def _keywords(question: str) -> list[str]:
    """The longest words of a question; of one without any, a word that most questions have."""
    words = {word.casefold() for word in re.findall(r"\w+", question)}
    return sorted(words, key=lambda word: (-len(word), word))[:KEYWORDS] or ["what"]


def _candidates(states: Sequence[dict[str, Any]]) -> str:
    """Behind comment signs: a state without a label is none, and what the supervisor chose in it must not make one."""
    points = [{"id": f"decision-{n}", "why": "", "accept": {}, "state": state} for n, state in enumerate(states)]
    text = yaml.safe_dump({"decision_points": points}, sort_keys=False, allow_unicode=True, width=120)
    return "\n".join(f"# {line}" for line in text.splitlines()) if points else ""


def _flow(value: Any) -> str:  # noqa: ANN401 - plain data
    """The value on one line."""
    return yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6).removesuffix("...\n").strip()


def write_suite(layout: Layout, case_id: str, job: "LiveJob") -> list[Path]:
    """Write the suite of a case beside the cases; returns its file."""
    text = yaml.safe_dump(suite_of(case_id, job), sort_keys=False, allow_unicode=True, width=120)
    return write_files({layout.suite(case_id): HEAD + text})


def suite_of(case_id: str, job: "LiveJob") -> dict[str, Any]:
    """The suite as plain data; models and limits are those of the requests, where they were kept."""
    settings = ("guards", "supervisor", "prompt", "plan", "max_iterations")
    same = {name: value for name in settings if (value := getattr(job, name)) is not None}
    return {
        "name": f"job-{case_id}",
        "description": f"Case {case_id} as the live job {job.name} ran it.",
        "cases": {"ids": [case_id]},
        "models": _models(job),
        "variants": [{"name": "as-it-ran", **same}, {"name": "edited", **same}],
        "candidate": "edited",
        "reference": "as-it-ran",
    }


def _models(job: "LiveJob") -> dict[str, Any]:
    asked = {served.agent: served.request for served in reversed(job.served) if "model" in served.request}
    by_agent = {agent: str(request["model"]) for agent, request in asked.items()}
    default = Counter(by_agent.values()).most_common(1)[0][0] if by_agent else UNKNOWN
    limits = [request["max_completion_tokens"] for request in asked.values() if request.get("max_completion_tokens")]
    return {
        "default": default,
        "fallback": default,
        "agents": {agent: model for agent, model in by_agent.items() if model != default},
        **({"max_output_tokens": limits[0]} if limits else {}),
    }


_PATHS: Final = ("/v1/chat/completions", "/search")
"""What requests of a replay are called; a live endpoint may have them below a folder of its own."""


def _interactions_of(served: "Iterable[ServedRequest]", recorded_by: str) -> list[Interaction]:
    """What can be replayed of the traffic, each request once; answers of other protocols are left out.

    Raises RecordingError where an answer says of itself what cannot be kept.
    """
    found: dict[str, Interaction] = {}
    for one in served:
        path = next((path for path in _PATHS if one.path.endswith(path.removeprefix("/v1"))), None)
        if path is None:
            continue
        body = redact_request(one.request)
        answer = redact_response(path, one.response)
        if found_excess := excess(answer):
            raise RecordingError(f"the kept answer to {scrub(one.agent)} has {found_excess}; it makes no case")
        key = request_key("POST", path, json_text(body).encode())
        found.setdefault(
            key,
            Interaction(
                key=key,
                agent=one.agent,
                model=str(answer.get("model") or body.get("model") or ""),
                uri=path,
                request=body,
                response=answer,
                recorded_at=one.at,
                usage=usage_of(answer),
                latency_ms=one.latency_ms,
                recorded_by=recorded_by,
            ),
        )
    return list(found.values())

"""A live job becomes a case, wherever it was kept: one door for `dataset new --from-job` and for pulled traces."""

from dataclasses import dataclass
from pathlib import Path

from evals.cassette import manifest
from evals.cassette.allowed_secrets import FILE as ALLOWED_FILE
from evals.cassette.allowed_secrets import AllowedSecrets, allowed_beside
from evals.cassette.redact import scan
from evals.cassette.store import merge_write
from evals.cassette.taken import interactions_of
from evals.dataset.from_job import write_case
from evals.dataset.job_suite import write_suite
from evals.dataset.layout import Layout
from evals.errors import ConfigurationError
from evals.models.case import Archetype
from evals.models.live_job import LiveJob
from evals.workspace import Workspace


@dataclass(frozen=True)
class NewCase:
    """What was written, and whether the job's traffic is among it, so that the case replays."""

    files: tuple[Path, ...]
    replays: bool


def case_of_job(
    case_id: str, job: LiveJob, workspace: Workspace, archetype: Archetype, codebase: str | None = None
) -> NewCase:
    """Write case, code, a suite that runs it and, of kept traffic, its cassette.

    Raises:
        ConfigurationError: there is a recording of that name, or something in the job looks like a secret; nothing is
            written. SecretFoundError: the same, of its traffic.
    """
    layout, cassette = Layout(workspace.datasets), workspace.cassette(case_id)
    _refuse_secrets(job, allowed_beside(cassette))
    if cassette.exists():
        raise ConfigurationError(f"{cassette}: there is a recording of that name; choose another id")
    served = interactions_of(job.served, recorded_by=f"live job {job.name}")
    if served:
        merge_write(cassette, served)  # refuses a secret before anything is written
        manifest.enter(cassette)
    written = [*write_case(layout, case_id, job, archetype, codebase), write_suite(layout, case_id, job)]
    return NewCase((*written, *([cassette] if served else [])), bool(served))


def _refuse_secrets(job: LiveJob, allowed: AllowedSecrets) -> None:
    """What the case would say of the job; its traffic is looked at where it is written."""
    told = job.model_dump(mode="json", include={"title", "body", "url", "asked", "states"})
    for found in scan(told, allowed=allowed)[:1]:
        raise ConfigurationError(
            f"job {job.name}: {found.rule} at {found.json_path}: no secret enters the dataset, nothing was written; "
            f"if it is none, allow sha256 {found.sha256} in cassettes/{ALLOWED_FILE}"
        )

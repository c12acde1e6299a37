"""Make a case of a stored live job."""

from dataclasses import dataclass
from pathlib import Path

from evals.cassettes import manifest
from evals.cassettes.cassette_merge import interactions_of
from evals.cassettes.store import merge_write
from evals.errors import ConfigurationError
from evals.models.live_job import LiveJob
from evals.secrets.allowed_secrets import FILE as ALLOWED_FILE
from evals.secrets.allowed_secrets import AllowedSecrets, allowed_beside
from evals.secrets.secret_filter import scan
from evals.triage.case_file import Archetype
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.job_to_case import write_case
from evals.triage.dataset.new_case import write_suite
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

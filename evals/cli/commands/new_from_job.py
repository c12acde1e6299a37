"""`evals dataset new --from-job`: a live job becomes a case, its traffic the case's first cassette."""

from pathlib import Path

from evals.cassette import manifest
from evals.cassette.allowed_secrets import FILE as ALLOWED_FILE
from evals.cassette.allowed_secrets import AllowedSecrets, allowed_beside
from evals.cassette.redact import scan
from evals.cassette.store import merge_write
from evals.cassette.taken import interactions_of
from evals.dataset.checks.files import MARK
from evals.dataset.from_job import write_case
from evals.dataset.job_suite import write_suite
from evals.dataset.layout import Layout
from evals.dataset.scaffold import known_archetype, refuse_id
from evals.errors import EXIT_OK, ConfigurationError
from evals.models.live_job import LiveJob
from evals.workspace import Workspace


def new_from_job(
    case_id: str,
    name: str,
    jobs: Path,
    root: Path,
    dataset: Path | None,
    *,
    archetype: str | None,
    codebase: str | None,
) -> int:
    """Write case, code, cassette and a suite that runs it; say what a person has to do. Returns 0.

    Raises:
        ConfigurationError: the job cannot be read, the id is taken, or something in it looks like a secret; nothing is
            written. SecretFoundError: the same, of its traffic.
    """
    workspace = Workspace.at(root, dataset)
    layout, kind = Layout(workspace.datasets), known_archetype(archetype or "local_bug")
    refuse_id(layout, case_id)
    from evals.subject.job import live_job

    job = live_job(jobs, name)
    cassette = workspace.cassette(case_id)
    _refuse_secrets(job, allowed_beside(cassette))
    if cassette.exists():
        raise ConfigurationError(f"{cassette}: there is a recording of that name; choose another id")
    served = interactions_of(job.served, recorded_by=f"live job {name}")
    if served:
        merge_write(cassette, served)  # refuses a secret before anything is written
        manifest.enter(cassette)
    written = [*write_case(layout, case_id, job, kind, codebase), write_suite(layout, case_id, job)]
    for path in [*written, *([cassette] if served else [])]:
        print(path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else path)
    if not served:
        print("no traffic was kept (triage run --record keeps it): record the case to replay it")
    for remark in job.remarks:
        print(remark)
    print(f"fill in every {MARK}; then: evals dataset lint --case {case_id}")
    return EXIT_OK


def _refuse_secrets(job: LiveJob, allowed: AllowedSecrets) -> None:
    """What the case would say of the job; its traffic is looked at where it is written."""
    told = job.model_dump(mode="json", include={"title", "body", "url", "asked", "states"})
    for found in scan(told, allowed=allowed)[:1]:
        raise ConfigurationError(
            f"job {job.name}: {found.rule} at {found.json_path}: no secret enters the dataset, nothing was written; "
            f"if it is none, allow sha256 {found.sha256} in cassettes/{ALLOWED_FILE}"
        )

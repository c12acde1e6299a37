"""`evals dataset new --from-job`: a live job becomes a case, its traffic the case's first cassette."""

from pathlib import Path

from evals.cli.terminal.new_case import tell_new_case
from evals.dataset.layout import Layout
from evals.dataset.scaffold import known_archetype, refuse_id
from evals.errors import EXIT_OK
from evals.pipeline.job_case import case_of_job
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
    kind = known_archetype(archetype or "local_bug")
    refuse_id(Layout(workspace.datasets), case_id)
    from evals.subject.job import live_job

    job = live_job(jobs, name)
    tell_new_case(case_id, job, case_of_job(case_id, job, workspace, kind, codebase), workspace)
    return EXIT_OK

"""What is said of a live job that became a case: its files, and what a person has to do."""

from evals.dataset.checks.files import MARK
from evals.models.live_job import LiveJob
from evals.pipeline.job_case import NewCase
from evals.report.inert import visible
from evals.workspace import Workspace


def tell_new_case(case_id: str, job: LiveJob, made: NewCase, workspace: Workspace) -> None:
    """Print it."""
    for path in made.files:
        print(path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else path)
    if not made.replays:
        print("no traffic was kept (triage run --record keeps it): record the case to replay it")
    for remark in job.remarks:
        print(visible(remark))
    print(f"fill in every {MARK}; then: evals dataset lint --case {case_id}")

"""`evals langsmith pull`: what people said of trials as notes beside cases, and traced jobs as candidates for cases."""

import datetime as dt
from pathlib import Path

from evals.cassette.allowed_secrets import allowed_beside
from evals.cli.terminal.console import VisibleConsole
from evals.cli.terminal.new_case import tell_new_case
from evals.dataset.layout import Layout
from evals.dataset.load import case_ids
from evals.dataset.notes import add_notes
from evals.dataset.scaffold import known_archetype, refuse_id
from evals.errors import EXIT_OK, ConfigurationError
from evals.langsmith.candidates import Candidate, candidates, state_in, steps_of
from evals.langsmith.notes import heard
from evals.langsmith.service import Patience, connected
from evals.pipeline.job_case import case_of_job
from evals.workspace import Workspace


def pull_notes(queue: str, root: Path, dataset: Path | None, *, retries: int) -> int:
    """Write what is new of a queue's feedback beside the cases, and say how much. Returns 0.

    Raises:
        ConfigurationError: no key, or no such queue. DatasetError: notes that are there cannot be read.
        ServiceError: LangSmith is not to be reached.
    """
    workspace = Workspace.at(root, dataset)
    layout, cases = Layout(workspace.datasets), {*case_ids(workspace.datasets)}
    with connected(Patience(retries=retries)) as service:
        found = heard(service, queue, allowed_beside(workspace.cassettes / queue))
    strange, written = found.strange, 0
    for case, notes in sorted(found.notes.items()):
        if case not in cases:
            strange += len(notes)
        elif new := add_notes(layout.notes(case), notes):
            written += new
            _say(f"{layout.notes(case)}: {new} new or changed")
    apart = f"; {strange} on runs of no case here" if strange else ""
    _say(f"queue {queue}: {found.runs} runs, {written} notes new or changed{apart}")
    return EXIT_OK


def pull_candidates(project: str, days: int, *, retries: int) -> int:
    """List the jobs that were traced to a project in the last days. Returns 0.

    Raises:
        ConfigurationError: no key, or no such project. ServiceError: LangSmith is not to be reached.
    """
    with connected(Patience(retries=retries)) as service:
        found = candidates(service, project, _since(days))
    for each in found:
        _say(f"{each.trace}  {each.start}  {each.job}: {each.title} ({each.ended})")
    more = ": --trace ID --case NEW-ID makes a case of one" if found else ""
    _say(f"project {project}: {len(found)} traced jobs in {days} days{more}")
    return EXIT_OK


def pull_case(
    project: str,
    trace: str,
    case_id: str,
    repo: Path | None,
    root: Path,
    dataset: Path | None,
    *,
    archetype: str | None,
    days: int,
    retries: int,
) -> int:
    """Make a case of a traced job, as `dataset new --from-job` does of a kept one. Returns 0.

    Raises:
        ConfigurationError: no key, no such trace, its code is not here, the id is taken, or something in it looks like
            a secret; nothing is written. ServiceError: LangSmith is not to be reached.
    """
    workspace = Workspace.at(root, dataset)
    kind = known_archetype(archetype or "local_bug")
    refuse_id(Layout(workspace.datasets), case_id)
    from evals.subject.traced import TracedJob, TracedStep, job_of_trace

    with connected(Patience(retries=retries)) as service:
        chosen = _chosen(candidates(service, project, _since(days)), trace, project)
        steps = steps_of(service, project, chosen)
    told = TracedJob(
        name=chosen.job,
        metadata=chosen.roots[0].metadata,
        begun=state_in(chosen.roots[0].inputs),
        steps=[TracedStep(run.name, state_in(run.inputs), state_in(run.outputs)) for run in steps],
        ended=state_in(chosen.roots[-1].outputs),
    )
    job = job_of_trace(told, repo)
    tell_new_case(case_id, job, case_of_job(case_id, job, workspace, kind), workspace)
    return EXIT_OK


def _chosen(found: list[Candidate], trace: str, project: str) -> Candidate:
    for each in found:
        if trace in (each.trace, each.job):
            return each
    raise ConfigurationError(f"--trace {trace}: no such job in project {project}; leave it out, and they are listed")


def _since(days: int) -> dt.datetime:
    return dt.datetime.now(dt.UTC) - dt.timedelta(days=days)


def _say(text: str) -> None:
    VisibleConsole(soft_wrap=True).print(text, highlight=False, markup=False)

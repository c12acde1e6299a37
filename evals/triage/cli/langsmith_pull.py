"""`evals langsmith pull`: feedback as notes, and traced jobs as cases."""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from evals.cli.global_options import given
from evals.cli.langsmith_commands import RETRIES, Retries, say
from evals.errors import EXIT_OK, ConfigurationError
from evals.langsmith.langsmith_client import ServicePatience, connected
from evals.langsmith.trace_import import Candidate, candidates, state_in, steps_of
from evals.secrets.allowed_secrets import allowed_beside
from evals.triage.cli.dataset_new import tell_new_case
from evals.triage.dataset.case_from_job import case_of_job
from evals.triage.dataset.case_notes import add_notes
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.load_cases import case_ids
from evals.triage.dataset.new_case import known_archetype, refuse_id
from evals.triage.langsmith.queue_feedback import heard
from evals.workspace import Workspace

pulling = typer.Typer()


@pulling.command("pull")
def pull_command(
    context: typer.Context,
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="An annotation queue: feedback to notes.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="A project `triage run` is traced to.")] = None,
    trace: Annotated[str | None, typer.Option(metavar="ID", help="A trace or job of --project to make a case.")] = None,
    case: Annotated[str | None, typer.Option(metavar="NEW-ID", help="What the case of --trace is called.")] = None,
    repo: Annotated[
        Path | None, typer.Option(help="The checkout a traced job was about; where it ran if none.")
    ] = None,
    archetype: Annotated[str | None, typer.Option(help="What kind of case it is: local_bug if not given.")] = None,
    days: Annotated[int, typer.Option(min=1, help="How far back traces are looked for.")] = 30,
    retries: Retries = RETRIES,
) -> int:
    """What people said of trials, as notes beside cases (--queue); traced jobs as candidates for cases (--project).

    Exit codes: 0 done, 2 no key, or no such queue, project or trace, 3 no network.
    """
    if (queue is None) == (project is None):
        raise ConfigurationError("give --queue NAME for notes, or --project NAME for traces")
    if (trace is None) != (case is None) or (trace is not None and project is None):
        raise ConfigurationError("a case is made of a trace: give --project, --trace and --case together")
    common = given(context, dataset=True)
    root, dataset = common.root, common.dataset
    if queue is not None:
        return pull_notes(queue, root, dataset, retries=retries)
    if trace is None or case is None:
        return pull_candidates(str(project), days, retries=retries)
    where = (repo, root, dataset)
    return pull_case(str(project), trace, case, *where, archetype=archetype, days=days, retries=retries)


def pull_notes(queue: str, root: Path, dataset: Path | None, *, retries: int) -> int:
    """Write what is new of a queue's feedback beside the cases, and say how much. Returns 0.

    Raises:
        ConfigurationError: no key, or no such queue. DatasetError: notes that are there cannot be read.
        ServiceError: LangSmith is not to be reached.
    """
    workspace = Workspace.at(root, dataset)
    layout, cases = Layout(workspace.datasets), {*case_ids(workspace.datasets)}
    with connected(ServicePatience(retries=retries)) as service:
        found = heard(service, queue, allowed_beside(workspace.cassettes / queue))
    strange, written = found.strange, 0
    for case, notes in sorted(found.notes.items()):
        if case not in cases:
            strange += len(notes)
        elif new := add_notes(layout.notes(case), notes):
            written += new
            say(f"{layout.notes(case)}: {new} new or changed")
    apart = f"; {strange} on runs of no case here" if strange else ""
    say(f"queue {queue}: {found.runs} runs, {written} notes new or changed{apart}")
    return EXIT_OK


def pull_candidates(project: str, days: int, *, retries: int) -> int:
    """List the jobs that were traced to a project in the last days. Returns 0.

    Raises:
        ConfigurationError: no key, or no such project. ServiceError: LangSmith is not to be reached.
    """
    with connected(ServicePatience(retries=retries)) as service:
        found = candidates(service, project, _since(days))
    for each in found:
        say(f"{each.trace}  {each.start}  {each.job}: {each.title} ({each.ended})")
    more = ": --trace ID --case NEW-ID makes a case of one" if found else ""
    say(f"project {project}: {len(found)} traced jobs in {days} days{more}")
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
    from evals.triage.live_jobs import TracedJob, TracedStep, job_of_trace

    with connected(ServicePatience(retries=retries)) as service:
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

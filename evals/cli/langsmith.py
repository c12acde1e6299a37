"""The commands that talk to LangSmith: names, options and help texts."""

from pathlib import Path
from typing import Annotated, Final

import typer

from evals.cli.options import HERE, LATEST, Dataset, Root, StoredRun

langsmith = typer.Typer(
    help="Cases and runs to LangSmith, what people say of them back. Needs LANGSMITH_API_KEY.", no_args_is_help=True
)
_RETRIES: Final = 4
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would go; needs no key, and asks nobody.")]
Name = Annotated[
    str | None, typer.Option(help="What the dataset is called there: triage-evals, or triage-evals/NAME if not given.")
]
Retries = Annotated[int, typer.Option(min=0, help="Tries after a rate limit, an outage or a cut connection.")]


@langsmith.command("push-dataset")
def push_dataset_command(
    dataset: Dataset = None,
    name: Name = None,
    dry_run: DryRun = False,
    retries: Retries = _RETRIES,
    root: Root = HERE,
) -> int:
    """Send the cases as examples: new and changed ones only. Held-out cases stay here.

    Exit codes: 0 all are there, 2 no key, 3 no network, LangSmith does not take them, or something looks like a secret
    (nothing is sent then).
    """
    from evals.cli.commands.langsmith_push_dataset import push_dataset

    return push_dataset(root, dataset, name, dry_run=dry_run, retries=retries)


@langsmith.command("push-run")
def push_run_command(
    run: StoredRun = LATEST,
    dataset: Dataset = None,
    name: Name = None,
    variant: Annotated[list[str] | None, typer.Option("--variant", help="Only this variant (repeatable).")] = None,
    messages: Annotated[
        bool, typer.Option(help="What was asked and answered in each call, from the cassettes.")
    ] = True,
    dry_run: DryRun = False,
    retries: Retries = _RETRIES,
    root: Root = HERE,
) -> int:
    """Send a run, one experiment a variant: trials with their trees, scores as feedback. Goes on where it was stopped.

    Exit codes: 0 all is there, 2 no key, or the dataset is not there yet, 3 no network, LangSmith does not take it, or
    something looks like a secret (nothing is sent then).
    """
    from evals.cli.commands.langsmith_push_run import push_run

    wanted = tuple(variant or ())
    return push_run(run, root, dataset, name, wanted, messages=messages, dry_run=dry_run, retries=retries)


@langsmith.command("pull")
def pull_command(
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="An annotation queue: feedback to notes.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="A project `triage run` is traced to.")] = None,
    trace: Annotated[str | None, typer.Option(metavar="ID", help="A trace or job of --project to make a case.")] = None,
    case: Annotated[str | None, typer.Option(metavar="NEW-ID", help="What the case of --trace is called.")] = None,
    repo: Annotated[
        Path | None, typer.Option(help="The checkout a traced job was about; where it ran if none.")
    ] = None,
    archetype: Annotated[str | None, typer.Option(help="What kind of case it is: local_bug if not given.")] = None,
    days: Annotated[int, typer.Option(min=1, help="How far back traces are looked for.")] = 30,
    dataset: Dataset = None,
    retries: Retries = _RETRIES,
    root: Root = HERE,
) -> int:
    """What people said of trials, as notes beside cases (--queue); traced jobs as candidates for cases (--project).

    Exit codes: 0 done, 2 no key, or no such queue, project or trace, 3 no network.
    """
    from evals.cli.commands.langsmith_pull import pull_candidates, pull_case, pull_notes
    from evals.errors import ConfigurationError

    if (queue is None) == (project is None):
        raise ConfigurationError("give --queue NAME for notes, or --project NAME for traces")
    if (trace is None) != (case is None) or (trace is not None and project is None):
        raise ConfigurationError("a case is made of a trace: give --project, --trace and --case together")
    if queue is not None:
        return pull_notes(queue, root, dataset, retries=retries)
    if trace is None or case is None:
        return pull_candidates(str(project), days, retries=retries)
    where = (repo, root, dataset)
    return pull_case(str(project), trace, case, *where, archetype=archetype, days=days, retries=retries)

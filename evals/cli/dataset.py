"""The `evals dataset` group: names, options and help texts; each command's work is in `evals.cli.commands`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from evals.cli.options import CORES, HERE, LATEST, AsJson, CaseId, Dataset, Jobs, Root
from evals.dataset.clone import REPOS_VARIABLE
from evals.errors import ConfigurationError

LIVE_JOBS: Final = Path(".triage/jobs.sqlite")

dataset = typer.Typer(help="Check, count and describe the labelled cases.", no_args_is_help=True)


@dataset.command("lint")
def dataset_lint_command(
    case: Annotated[list[str] | None, typer.Option("--case", help="Only this case (repeatable).")] = None,
    as_json: AsJson = False,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    root: Root = HERE,
) -> int:
    """Prove the labels: patches, repros, gold, routes, twins, leaks, balance."""
    from evals.cli.commands.lint import lint

    return lint(root, jobs, cases=case or (), dataset=dataset, as_json=as_json)


@dataset.command("fetch")
def dataset_fetch_command(
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    prove: Annotated[bool, typer.Option(help="Prove the labels once all is here, as `lint` does.")] = True,
    root: Root = HERE,
) -> int:
    """Fetch the released packages a dataset is about with the user's own pip, then prove its labels."""
    from evals.cli.commands.fetch import fetch
    from evals.cli.commands.lint import lint

    return fetch(root, dataset) or (lint(root, jobs, dataset=dataset) if prove else 0)


@dataset.command("harvest")
def dataset_harvest_command(
    case: CaseId,
    variant: Annotated[str, typer.Option(help="The variant whose trial is replayed.")] = "v3",
    suite: Annotated[str, typer.Option(help="The suite that has the variant.")] = "prompts",
    root: Root = HERE,
) -> int:
    """Print the states a recorded supervisor was asked in, as decision points to be labelled."""
    from evals.cli.commands.harvest import harvest

    return harvest(case, variant, suite, root)


@dataset.command("baselines")
def dataset_baselines_command(
    as_json: AsJson = False,
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """What is reached without any model: constant routes, simple rules, word search, silence."""
    from evals.cli.commands.baselines import baselines

    return baselines(root, dataset, as_json=as_json)


@dataset.command("disputes")
def dataset_disputes_command(
    runs: Annotated[list[Path] | None, typer.Argument(metavar="[RUN]...", help="Any run.json; all are pooled.")] = None,
    as_json: AsJson = False,
) -> int:
    """Who is wrong, the label or the answer? Suspect labels, lax routes, deciding rules, states all agree against.

    Held-out cases are left out. Exit codes: 0 listed, 2 a run cannot be read, or two differ in their labels, 3 nothing
    to list from: no exact trial, or a run from before routes were read rule by rule.
    """
    from evals.cli.commands.disputes import disputes

    return disputes(runs or [LATEST], as_json=as_json)


@dataset.command("stats")
def dataset_stats_command(as_json: AsJson = False, dataset: Dataset = None, root: Root = HERE) -> int:
    """Count the cases by archetype and split, codebase, category, severity, question policy, and twins."""
    from evals.cli.commands.stats import stats

    return stats(root, dataset, as_json=as_json)


@dataset.command("show")
def dataset_show_command(
    case: CaseId,
    patch: Annotated[bool, typer.Option("--patch", help="The diff too.")] = False,
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """Print one case, readable: issue, labels, routes, what the user knows, decision points."""
    from evals.cli.commands.show import show

    return show(case, root, dataset, patch=patch)


@dataset.command("new")
def dataset_new_command(
    case: CaseId,
    codebase: Annotated[str | None, typer.Option(help="A folder of datasets/codebases.")] = None,
    archetype: Annotated[str | None, typer.Option(help="What kind of case; `dataset stats` lists them.")] = None,
    from_job: Annotated[
        str | None, typer.Option(help="A job of `triage run`: its issue, code, route, states, and its traffic if kept.")
    ] = None,
    live_jobs: Annotated[Path, typer.Option("--jobs", help="The file that keeps live jobs.")] = LIVE_JOBS,
    from_git: Annotated[
        tuple[Path, str] | None,
        typer.Option(
            metavar="REPO COMMIT", help="A fix in a git repository: its parent is the code, its diff the gold."
        ),
    ] = None,
    issue: Annotated[
        Path | None, typer.Option(help="With --from-git: the issue's text; the first line is its title.")
    ] = None,
    repro: Annotated[
        Path | None, typer.Option(help="With --from-git: a script that fails before the fix and passes with it.")
    ] = None,
    repository: Annotated[
        str | None,
        typer.Option(metavar="OWNER/NAME", help="With --from-git, where the clone's remote does not say it."),
    ] = None,
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """Write the files of a new case, with marks where its author has to decide."""
    _refuse_apart(from_git, {"--issue": issue, "--repro": repro, "--repository": repository})
    if from_git is not None:
        from evals.cli.commands.new_from_git import new_from_git

        _refuse_beside({"--codebase": codebase, "--from-job": from_job})
        return new_from_git(
            *(case, *from_git, root, dataset),
            issue=issue,
            repro=repro,
            repository=repository,
            archetype=archetype,
        )
    if from_job is not None:
        from evals.cli.commands.new_from_job import new_from_job

        return new_from_job(case, from_job, live_jobs, root, dataset, archetype=archetype, codebase=codebase)
    from evals.cli.commands.new import new

    return new(case, root, dataset, codebase=codebase, archetype=archetype)


@dataset.command("gold")
def dataset_gold_command(case: CaseId, dataset: Dataset = None, root: Root = HERE) -> int:
    """Print the gold that a case's patch proves, ready to be pasted into its case.yaml."""
    from evals.cli.commands.gold import gold

    return gold(case, root, dataset)


@dataset.command("schema")
def dataset_schema_command() -> int:
    """Print the JSON Schema of case.yaml, for editors."""
    from evals.cli.commands.schema import schema

    return schema()


@dataset.command("import")
def dataset_import_command(
    source: Annotated[str, typer.Argument(help="What PATH holds: swebench, locagent, bugsinpy or github.")],
    path: Annotated[
        Path,
        typer.Argument(help="JSON Lines, JSON, CSV or Parquet; a folder for bugsinpy; `gh issue view --json` output."),
    ],
    out: Annotated[Path, typer.Option(help="The dataset folder to write; must be new or empty.")],
    repos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", envvar=REPOS_VARIABLE, help="A folder of clones: the code of the rows' commits."),
    ] = None,
    root: Root = HERE,
) -> int:
    """Turn foreign issues into cases: gold from the fix, defaults marked as such, a report of every row.

    With --repos the code of each row is taken out of the clone of its repository (DIR/owner/name, owner__name or name,
    bare ones with .git), once, into .cache; rows without a clone are as without it, and say so.

    Only the issue's text is shown to an agent. Gold functions are outermost definitions (`Class.method` counts as
    `Class`) and stay empty where the source does not state them.
    """
    from evals.cli.commands.import_cases import import_cases

    return import_cases(source, path, out, root, repos)


@dataset.command("code")
def dataset_code_command(
    repos: Annotated[Path, typer.Option(metavar="DIR", envvar=REPOS_VARIABLE, help="A folder of clones.")],
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """Take the code of a dataset's foreign cases out of clones into .cache, where runs look for it."""
    from evals.cli.commands.code import code

    return code(repos, root, dataset)


def _refuse_apart(from_git: object, options: Mapping[str, object]) -> None:
    """Raises ConfigurationError for an option that says something of a fix, without one."""
    named = [name for name, value in options.items() if value is not None]
    if named and from_git is None:
        raise ConfigurationError(f"{named[0]} goes with --from-git REPO COMMIT")


def _refuse_beside(options: Mapping[str, object]) -> None:
    """Raises ConfigurationError for another origin beside a fix."""
    named = [name for name, value in options.items() if value is not None]
    if named:
        raise ConfigurationError(f"{named[0]} and --from-git exclude each other: a case has one origin")

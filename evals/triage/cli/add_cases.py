"""`evals dataset` new and import: new cases, and states of recorded trials as decision points."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, cast

import typer
import yaml
from rich.table import Table
from rich.text import Text

from evals.cassettes.cassette_files import load
from evals.cli.options import CaseId, given
from evals.cli.terminal import VisibleConsole
from evals.errors import EXIT_OK, CannotJudgeError, ConfigurationError
from evals.models.run_request import Options
from evals.pipeline.load_suite import selected
from evals.shared.display_text import visible
from evals.shared.git_command import GitError
from evals.triage.dataset.case_code import Commits
from evals.triage.dataset.checks.codebase_checks import repro_proves_the_bug
from evals.triage.dataset.checks.text_checks import MARK
from evals.triage.dataset.dataset_layout import Archetype, Layout
from evals.triage.dataset.imported_dataset_writer import REPORT, ImportReport, attached, write_dataset
from evals.triage.dataset.imported_issue_files import (
    ForeignIssue,
    Refused,
    Source,
    read_github,
    read_locagent,
    read_swebench,
)
from evals.triage.dataset.lint_types import LintedCase
from evals.triage.dataset.load_cases import load_case, load_policy, read_issue
from evals.triage.dataset.new_case import (
    case_of_job,
    fixed_bug,
    known_archetype,
    refuse_archetype,
    refuse_id,
    refuse_secrets,
    scaffold,
    write_case,
)
from evals.triage.dataset.repository_clones import REPOS_VARIABLE, Clones, clone_at
from evals.workspace import Workspace

LIVE_JOBS: Final = Path(".triage/jobs.sqlite")
IMPORTERS: Final[Mapping[Source, Callable[[Path], Iterator[ForeignIssue | Refused]]]] = {
    "swebench": read_swebench,
    "locagent": read_locagent,
    "github": read_github,
}

making = typer.Typer()


@making.command("new")
def new(
    context: typer.Context,
    case: CaseId,
    codebase: Annotated[str | None, typer.Option(help="A folder of datasets/codebases.")] = None,
    archetype: Annotated[str | None, typer.Option(help="Kind of case; `dataset show --counts` lists them.")] = None,
    from_job: Annotated[
        str | None, typer.Option(help="Copy issue, code, route, states and kept traffic of a job of `triage run`.")
    ] = None,
    live_jobs: Annotated[Path, typer.Option("--job-store", help="The file that keeps live jobs.")] = LIVE_JOBS,
    from_git: Annotated[
        tuple[Path, str] | None,
        typer.Option(
            metavar="REPO COMMIT", help="A commit with the fix: its parent is the code, its diff the expected fix."
        ),
    ] = None,
    issue: Annotated[Path | None, typer.Option(help="With --from-git: the issue, its title first.")] = None,
    repro: Annotated[Path | None, typer.Option(help="With --from-git: a script that fails before the fix.")] = None,
    repository: Annotated[
        str | None,
        typer.Option(metavar="OWNER/NAME", help="With --from-git: the name, if the clone's remote does not say it."),
    ] = None,
) -> int:
    """Write the files of a new case, with a TODO wherever its author has to decide."""
    of_git = {"--issue": issue, "--repro": repro, "--repository": repository}
    others = {"--codebase": codebase, "--from-job": from_job}
    for option in (name for name, value in of_git.items() if value is not None and from_git is None):
        raise ConfigurationError(f"{option} goes with --from-git REPO COMMIT")
    for option in (name for name, value in others.items() if value is not None and from_git is not None):
        raise ConfigurationError(f"{option} and --from-git exclude each other: a case has one origin")
    common = given(context, dataset=True)
    workspace, remarks = Workspace.at(common.root, common.dataset), list[str]()
    layout = Layout(workspace.datasets)
    if from_git is None and from_job is None:
        if codebase is None or archetype is None:
            raise ConfigurationError("a new case needs --codebase and --archetype, or --from-job or --from-git")
        written: Iterable[Path] = scaffold(layout.root, case, codebase, archetype)
    else:
        kind = known_archetype(archetype or "local_bug")
        refuse_id(layout, case)
        if from_git is not None:
            written, remarks = _of_fix(case, *from_git, repository, kind, issue, repro, workspace)
        else:
            written, remarks = _of_job(case, str(from_job), live_jobs, kind, codebase, workspace)
    for path in written:
        print(path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else path)
    for remark in remarks:
        print(visible(remark))
    print(f"fill in every {MARK}; then: evals dataset lint --case {case}")
    return EXIT_OK


def _of_job(
    case_id: str, name: str, jobs: Path, kind: Archetype, codebase: str | None, workspace: Workspace
) -> tuple[Iterable[Path], list[str]]:
    """Write case, code, cassette and a suite that runs it; what a person should know of them.

    Raises:
        ConfigurationError: the job cannot be read, or something in it looks like a secret; nothing is written.
            SecretFoundError: the same, of its traffic.
    """
    from evals.triage.imported_jobs import live_job

    job = live_job(jobs, name)
    made = case_of_job(case_id, job, workspace, kind, codebase)
    untaped = "no traffic was kept (triage run --record keeps it): record the case to replay it"
    return made.files, [*([] if made.replays else [untaped]), *job.remarks]


def _of_fix(
    case_id: str,
    repo: Path,
    revision: str,
    repository: str | None,
    kind: Archetype,
    issue: Path | None,
    repro: Path | None,
    workspace: Workspace,
) -> tuple[Iterable[Path], list[str]]:
    """Write the case, and take the code on both sides of the fix into the cache; what of the fix is no gold.

    Raises:
        ConfigurationError: no issue is given, the commit is no fix of code, the issue holds a secret, or the repro
            does not tell the two commits apart; no case is written.
        DatasetError: the issue cannot be read.
    """
    layout, commits = Layout(workspace.datasets), Commits.below(workspace.cache)
    refuse_archetype(kind)
    if issue is None:
        raise ConfigurationError("--from-git needs --issue FILE: what the reporter wrote, its first line the title")
    title, body = read_issue(issue)
    refuse_secrets(str(issue), {"title": title, "body": body}, workspace.cassette(case_id))
    if repro is not None and not repro.is_file():
        raise ConfigurationError(f"--repro {repro}: there is no such file")
    clone = clone_at(repo)
    bug = fixed_bug(clone, revision, repository)
    try:
        for commit in (bug.base, bug.fix):
            commits.take(clone, commit)
    except GitError as error:
        raise ConfigurationError(f"{clone.folder}: lacks files of these commits; fetch them there") from error
    written = write_case(layout, case_id, bug, kind, f"# {title}\n\n{body}\n", repro)
    subject = LintedCase(load_case(layout.root, case_id, load_policy(layout.policy)), layout, workspace.cache)
    for complaint in repro_proves_the_bug(subject):  # a repro that shows nothing is no proof: the case goes again
        shutil.rmtree(layout.labels(case_id).parent)
        raise ConfigurationError(f"--repro: {complaint.message}; no case was written")
    return written, [f"no gold: {note}" for note in bug.notes]


@making.command("import")
def import_cases(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="What PATH holds: swebench, locagent or github.")],
    path: Annotated[
        Path,
        typer.Argument(help="JSON Lines, JSON, CSV or Parquet; `gh issue view --json` output."),
    ],
    out: Annotated[Path, typer.Option(help="The dataset folder to write; must be new or empty.")],
    repos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", envvar=REPOS_VARIABLE, help="A folder of clones: the code of the rows' commits."),
    ] = None,
) -> int:
    """Turn issues of other projects into cases. Files and functions to blame (gold) are those of the fix.

    With --repos, the code of each row is copied once from the clone of its repository (DIR/owner/name, owner__name or
    name, bare ones with .git) to .cache. Rows without a clone have no code, and say so.

    Agents see only the issue's text. Gold functions are outermost definitions (`Class.method` counts as `Class`), none
    if the source states none.
    """
    if source not in IMPORTERS:
        raise ConfigurationError(f"cannot import {source!r}; it is one of {', '.join(IMPORTERS)}")
    known = cast("Source", source)
    workspace = Workspace.at(given(context).root)
    clones = None if repos is None else Clones.below(repos)
    found = attached(IMPORTERS[known](path), clones, workspace.cache)
    report = write_dataset(found, known, Layout(workspace.datasets).policy, out)
    console = VisibleConsole(soft_wrap=True, highlight=False)
    table = _table(report)
    console.print(table if table.rows else table.title)
    console.print(_summary(report, out), markup=False)
    return EXIT_OK


def _table(report: ImportReport) -> Table:
    """A line per refused row, and per imported one that wants a remark."""
    table = Table(title=f"imported {len(report.imported)}, skipped {len(report.skipped)}")
    for heading in ("row", "name", "became", "why, or what to know"):
        table.add_column(heading, overflow="fold")
    for skipped in report.skipped:
        table.add_row(skipped.row, _plain(skipped.name), "skipped", _plain(skipped.why))
    for imported in report.imported:
        for note in imported.notes:
            table.add_row(imported.row, _plain(imported.name), imported.id, _plain(note))
    return table


def _summary(report: ImportReport, out: Path) -> str:
    without = sum("gold" in one.unlabelled for one in report.imported)
    vague = sum("functions" in one.unlabelled for one in report.imported) - without
    said = f"Gold files: {len(report.imported) - without} cases; without gold: {without}; "
    coded = sum(one.base_commit is not None for one in report.imported)
    said += f"functions not stated: {vague}; with their code: {coded} of {len(report.imported)}."
    return f"{said}\nWritten: {out}, with {REPORT}. Use it with --dataset {out}."


def _plain(text: str) -> Text:
    """Foreign text, without anything that a terminal would obey."""
    return Text("".join(letter if letter.isprintable() else "?" for letter in text))


def harvest(case: str, variant: str, suite: str, root: Path) -> int:
    """Print the states a recorded router was asked in, as decision points to be labelled."""
    chosen = selected(suite, root, Options(cases=(case,), variants=(variant,)))
    from evals.triage.imported_jobs import harvest as harvested
    from evals.triage.recorded_graph import Repositories

    workspace, [one], [info] = chosen.workspace, chosen.cases, chosen.variants
    states = harvested(one, info.variant, load(workspace.cassette(case)), Repositories(workspace).of(one))
    if not states:
        raise CannotJudgeError(f"{case} under {variant} is not recorded; `{chosen.record_command}` records it")
    points = [
        {"id": f"{variant}-decision-{index}", "why": "TODO", "accept": {}, "state": state}
        for index, state in enumerate(states)
    ]
    print(yaml.safe_dump(points, sort_keys=False, allow_unicode=True, width=120), end="")
    return EXIT_OK

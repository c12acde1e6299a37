"""The work of `evals dataset` new, import, fetch, and of `show --states`."""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, cast

import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cassettes.store import load
from evals.cli.terminal import VisibleConsole, bar
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, EXIT_WORSE, CannotJudgeError, ConfigurationError, ReleaseError
from evals.models.live_job import LiveJob
from evals.models.run_request import Options
from evals.pipeline.load_run import selected
from evals.secrets.allowed_secrets import FILE as ALLOWED_FILE
from evals.secrets.allowed_secrets import allowed_beside
from evals.secrets.secret_filter import scan
from evals.shared.git_command import GitError
from evals.shared.visible_text import visible
from evals.triage.dataset.case_from_fix import FixedBug, fixed_bug, refuse_archetype, write_case
from evals.triage.dataset.case_from_job import NewCase, case_of_job
from evals.triage.dataset.checks.proofs import repro_proves_the_bug
from evals.triage.dataset.checks.text_checks import MARK
from evals.triage.dataset.commit_code import Commits, take_in
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.finding import LintedCase
from evals.triage.dataset.importers import benchmarks, bugsinpy
from evals.triage.dataset.importers.imported_code import attached
from evals.triage.dataset.importers.imported_dataset import REPORT, ImportReport, write_dataset
from evals.triage.dataset.importers.imported_issue import ForeignIssue, Refused, Source
from evals.triage.dataset.load_cases import load_case, load_cases, load_policy, read_issue
from evals.triage.dataset.new_case import known_archetype, refuse_id, scaffold
from evals.triage.dataset.releases.fetch_releases import all_releases, lay_out
from evals.triage.dataset.releases.fetch_releases import fetch as fetch_all
from evals.triage.dataset.releases.release_store import Shelf
from evals.triage.dataset.repository_clones import Clone, Clones, NoCodeError, clone_at
from evals.workspace import Workspace

IMPORTERS: Final[Mapping[Source, Callable[[Path], Iterator[ForeignIssue | Refused]]]] = {
    "swebench": benchmarks.read_swebench,
    "locagent": benchmarks.read_locagent,
    "bugsinpy": bugsinpy.read,
    "github": benchmarks.read_github,
}


def new(case_id: str, root: Path, dataset: Path | None = None, *, codebase: str | None, archetype: str | None) -> int:
    """Write the files and say what to do with them. Returns 0; raises ConfigurationError."""
    if codebase is None or archetype is None:
        raise ConfigurationError("a new case needs --codebase and --archetype, or --from-job or --from-git")
    workspace = Workspace.at(root, dataset)
    for path in scaffold(workspace.datasets, case_id, codebase, archetype):
        print(path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else path)
    print(f"fill in every {MARK}; then: evals dataset lint --case {case_id}")
    return EXIT_OK


def new_from_git(
    case_id: str,
    repo: Path,
    revision: str,
    root: Path,
    dataset: Path | None,
    *,
    issue: Path | None,
    repro: Path | None,
    repository: str | None,
    archetype: str | None,
) -> int:
    """Write the case, take the code on both sides of the fix into the cache, say what a person has to do. Returns 0.

    Raises:
        ConfigurationError: no issue is given, the id is taken, the commit is no fix of code, the issue holds a secret,
            or the repro does not tell the two commits apart; no case is written.
        DatasetError: the issue cannot be read.
    """
    workspace = Workspace.at(root, dataset)
    layout, kind = Layout(workspace.datasets), known_archetype(archetype or "local_bug")
    refuse_archetype(kind)
    refuse_id(layout, case_id)
    if issue is None:
        raise ConfigurationError("--from-git needs --issue FILE: what the reporter wrote, its first line the title")
    text = _issue_text(issue, workspace.cassette(case_id))
    if repro is not None and not repro.is_file():
        raise ConfigurationError(f"--repro {repro}: there is no such file")
    clone = clone_at(repo)
    bug = fixed_bug(clone, revision, repository)
    _take(clone, bug, Commits.below(workspace.cache))
    written = write_case(layout, case_id, bug, kind, text, repro)
    _refuse_unproved(case_id, layout, workspace.cache)
    for path in written:
        print(path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else path)
    for note in bug.notes:
        print(visible(f"no gold: {note}"))
    print(f"fill in every {MARK}; then: evals dataset lint --case {case_id}")
    return EXIT_OK


def _issue_text(path: Path, cassette: Path) -> str:
    """The issue, looked through for secrets as whatever enters the dataset from outside."""
    title, body = read_issue(path)
    for found in scan({"title": title, "body": body}, allowed=allowed_beside(cassette))[:1]:
        raise ConfigurationError(
            f"{path}: {found.rule} at {found.json_path}: no secret enters the dataset, nothing was written; "
            f"if it is none, allow sha256 {found.sha256} in cassettes/{ALLOWED_FILE}"
        )
    return f"# {title}\n\n{body}\n"


def _take(clone: Clone, bug: FixedBug, commits: Commits) -> None:
    try:
        for commit in (bug.base, bug.fix):
            commits.take(clone, commit)
    except GitError as error:
        raise ConfigurationError(f"{clone.folder}: lacks files of these commits; fetch them there") from error


def _refuse_unproved(case_id: str, layout: Layout, cache: Path) -> None:
    """A repro that shows nothing is no proof: the case goes again."""
    subject = LintedCase(load_case(layout.root, case_id, load_policy(layout.policy)), layout, cache)
    for complaint in repro_proves_the_bug(subject):
        shutil.rmtree(layout.labels(case_id).parent)
        raise ConfigurationError(f"--repro: {complaint.message}; no case was written")


def tell_new_case(case_id: str, job: LiveJob, made: NewCase, workspace: Workspace) -> None:
    """Print it."""
    for path in made.files:
        print(path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else path)
    if not made.replays:
        print("no traffic was kept (triage run --record keeps it): record the case to replay it")
    for remark in job.remarks:
        print(visible(remark))
    print(f"fill in every {MARK}; then: evals dataset lint --case {case_id}")


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
    from evals.triage.live_jobs import live_job

    job = live_job(jobs, name)
    tell_new_case(case_id, job, case_of_job(case_id, job, workspace, kind, codebase), workspace)
    return EXIT_OK


def import_cases(
    source: str, path: Path, out: Path, root: Path, repos: Path | None = None, console: Console | None = None
) -> int:
    """Import what `path` holds into the new folder `out`, with the code of rows whose repository has a clone below
    `repos`; print what became of every row. Returns 0.

    Raises:
        ConfigurationError: there is no such source or folder of clones, or `out` is there and not empty.
        DatasetError: `path` cannot be read, or no row of it became a case.
    """
    if source not in IMPORTERS:
        raise ConfigurationError(f"cannot import {source!r}; it is one of {', '.join(IMPORTERS)}")
    known = cast("Source", source)
    workspace = Workspace.at(root)
    clones = None if repos is None else Clones.below(repos)
    found = attached(IMPORTERS[known](path), clones, workspace.cache)
    report = write_dataset(found, known, Layout(workspace.datasets).policy, out)
    console = console or VisibleConsole(soft_wrap=True, highlight=False)
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


def harvest(case_id: str, variant: str, suite: str, root: Path) -> int:
    """Print the state before every decision of one trial as decision points without labels, as YAML for case.yaml.

    Raises:
        ConfigurationError, DatasetError: no such suite, case or variant.
        CannotJudgeError: the trial is not recorded, so there is no state to be had.
    """
    chosen = selected(suite, root, Options(cases=(case_id,), variants=(variant,)))
    from evals.triage.decision_points import harvest as harvested
    from evals.triage.recorded_graph import Repositories

    workspace, [case], [info] = chosen.workspace, chosen.cases, chosen.variants
    repository = Repositories(workspace).of(case)
    states = harvested(case, info.variant, load(workspace.cassette(case_id)), repository)
    if not states:
        raise CannotJudgeError(f"{case_id} under {variant} is not recorded; `{chosen.record_command}` records it")
    points = [
        {"id": f"{variant}-decision-{index}", "why": "TODO", "accept": {}, "state": state}
        for index, state in enumerate(states)
    ]
    print(yaml.safe_dump(points, sort_keys=False, allow_unicode=True, width=120), end="")
    return EXIT_OK


def code(repos: Path, root: Path, dataset: Path | None = None) -> int:
    """Take in every commit a case of the dataset names; print what is missing. Returns 0 if nothing is, else 3.

    Raises:
        ConfigurationError: there is no such folder, or no case that names a commit.
        DatasetError: the dataset cannot be loaded.
    """
    workspace, clones = Workspace.at(root, dataset), Clones.below(repos)
    wanted: dict[tuple[str, str], None] = {}
    for case in load_cases(workspace.datasets).values():
        wanted.update(dict.fromkeys(case.labels.commits))
    if not wanted:
        raise ConfigurationError("no case of this dataset names a commit; import it with --repos to have its code")
    missing = 0
    for repository, commit in wanted:
        try:
            take_in(repository, commit, clones, workspace.cache)
        except NoCodeError as error:
            missing += 1
            print(f"{repository} at {commit[:12]}: {error}")
    print(f"{len(wanted) - missing} of {len(wanted)} commits are here")
    return EXIT_CANNOT_JUDGE if missing else EXIT_OK


def fetch(root: Path, dataset: Path | None = None) -> int:
    """Fetch what is not here, and say in one line each what could not be. Returns 0 if all are here, 1 if a release is
    not what the dataset says or cannot be used, 3 if no index could be reached.

    Raises:
        ConfigurationError, DatasetError: the dataset is wrong, or about no released package.
    """
    workspace = Workspace.at(root, dataset)
    cases = load_cases(workspace.datasets).values()
    wanted = all_releases(cases, workspace.datasets)
    if not wanted:
        raise ConfigurationError(
            f"{workspace.datasets}: no case is about a released package; there is nothing to fetch"
        )
    shelf = Shelf(workspace.cache)
    missing = shelf.missing(wanted)
    with bar("fetching", len(missing)) as shown:
        wrong = fetch_all(missing, shelf, shown.step, shown.note)
    for error in wrong:
        print(f"evals: {error}", file=sys.stderr)
    print(
        f"{len(wanted) - len(wrong)} of {len(wanted)} releases are here, {len(missing) - len(wrong)} fetched just now"
    )
    if not wrong:
        lay_out(cases, workspace.datasets, workspace.cache)
        return EXIT_OK
    return EXIT_WORSE if any(isinstance(error, ReleaseError) for error in wrong) else EXIT_CANNOT_JUDGE

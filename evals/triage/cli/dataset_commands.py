"""`evals dataset`: options of the group; show, lint."""

import json
import platform
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from textwrap import indent
from typing import Annotated, Final

import typer
import yaml
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from evals.cli.global_options import given
from evals.cli.shared_options import AsJson, CaseId
from evals.cli.terminal import VisibleConsole, bar
from evals.errors import EXIT_OK, EXIT_WORSE, ConfigurationError, DatasetError, nearest_name
from evals.models.case import Case, DecisionPoint
from evals.models.route_spec import RouteAlternative
from evals.shared.visible_text import visible
from evals.triage.dataset.case_code import build_tree
from evals.triage.dataset.case_counts import SPLITS, Census, census
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.finding import LintFinding, Surroundings
from evals.triage.dataset.gold_labels import derive_gold
from evals.triage.dataset.lint_dataset import checks_left_out, not_run_here, run_lint
from evals.triage.dataset.load_cases import case_ids, load_case, load_cases, load_policy, read_labels
from evals.triage.dataset.repository_clones import REPOS_VARIABLE
from evals.workspace import Workspace

LIVE_JOBS: Final = Path(".triage/jobs.sqlite")

dataset = typer.Typer(help="Check, count and describe the labelled cases.", no_args_is_help=True)


@dataset.command("lint")
def dataset_lint_command(
    context: typer.Context,
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN]...", help="With --disputes: any run.json; all are pooled."),
    ] = None,
    case: Annotated[list[str] | None, typer.Option("--case", help="Only this case (repeatable).")] = None,
    disputes: Annotated[
        bool, typer.Option("--disputes", help="Instead, list labels that recorded answers speak against.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Prove the labels: patches, repros, gold, routes, metamorphic pairs, leaks, balance.

    With --disputes: suspect labels, lax routes, deciding constraints, decision points all answers are against, without
    held-out cases. Exit codes then: 0 listed, 2 a run cannot be read, or two differ in their labels, 3 nothing to list
    from: no exact trial, or a run from before routes were read constraint by constraint.
    """
    common = given(context, dataset=not disputes)
    if disputes:
        from evals.triage.cli.disputes_command import disputes as list_disputes

        if case:
            raise ConfigurationError("--case: of proofs; leave it or --disputes out")
        return list_disputes(runs or [common.stored(None)], as_json=as_json)
    if runs:
        raise ConfigurationError(f"{runs[0]}: a run goes with --disputes; --case names a case")
    return lint(common.root, common.jobs, cases=case or (), dataset=common.dataset, as_json=as_json)


@dataset.command("fetch")
def dataset_fetch_command(
    context: typer.Context,
    prove: Annotated[bool, typer.Option(help="Prove the labels once all is here, as `lint` does.")] = True,
    repos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Instead, take the code of the cases' commits out of clones below DIR."),
    ] = None,
) -> int:
    """Fetch the released packages a dataset is about with the user's own pip, then prove its labels.

    With --repos: commits of foreign repositories, out of clones into .cache, where runs look for them.
    """
    from evals.triage.cli.dataset_new import code, fetch

    common = given(context, dataset=True)
    if repos is not None:
        return code(repos, common.root, common.dataset)
    found = fetch(common.root, common.dataset)
    return found or (lint(common.root, common.jobs, dataset=common.dataset) if prove else 0)


@dataset.command("show")
def dataset_show_command(
    context: typer.Context,
    case: Annotated[
        str | None, typer.Argument(metavar="[CASE]", help="The name of a case; every case, one per line, if not given.")
    ] = None,
    patch: Annotated[bool, typer.Option("--patch", help="The case with its diff.")] = False,
    gold: Annotated[bool, typer.Option("--gold", help="The gold that its patch proves, as YAML.")] = False,
    states: Annotated[
        str | None,
        typer.Option(metavar="VARIANT", help="The states its recorded decisions were made in, as decision points."),
    ] = None,
    suite: Annotated[str, typer.Option(help="The suite that has the variant of --states.")] = "prompts",
    counts: Annotated[bool, typer.Option("--counts", help="All cases, counted by what they are.")] = False,
    floors: Annotated[bool, typer.Option("--floors", help="What is reached on all cases without a model.")] = False,
    as_json: AsJson = False,
) -> int:
    """Print one case: issue, labels, routes, what the user knows, decision points. Or all cases, or what they hold."""
    common = given(context, dataset=states is None)
    root, other = common.root, common.dataset
    if (counts or floors) and case:
        raise ConfigurationError("--counts and --floors: of all cases; leave CASE out")
    if as_json and not (counts or floors):
        raise ConfigurationError("--json goes with --counts or --floors")
    if counts:
        return stats(root, other, as_json=as_json)
    if floors:
        from evals.triage.cli.dataset_reports import baselines

        return baselines(root, other, as_json=as_json)
    if case is None:
        if patch or gold or states:
            raise ConfigurationError("--patch, --gold and --states: of one case; name it")
        return _list(root, other)
    if states is not None:
        from evals.triage.cli.dataset_new import harvest

        return harvest(case, states, suite, root)
    return print_gold(case, root, other) if gold else show(case, root, other, patch=patch)


def _list(root: Path, dataset: Path | None) -> int:
    for case in load_cases(Workspace.at(root, dataset).datasets).values():
        print(visible(f"{case.id}  {case.known.kind}  {case.known.split}  {case.title}"))
    return EXIT_OK


@dataset.command("new")
def dataset_new_command(
    context: typer.Context,
    case: CaseId,
    codebase: Annotated[str | None, typer.Option(help="A folder of datasets/codebases.")] = None,
    archetype: Annotated[str | None, typer.Option(help="Kind of case; `dataset show --counts` lists them.")] = None,
    from_job: Annotated[
        str | None, typer.Option(help="A job of `triage run`: its issue, code, route, states, and its traffic if kept.")
    ] = None,
    live_jobs: Annotated[Path, typer.Option("--job-store", help="The file that keeps live jobs.")] = LIVE_JOBS,
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
) -> int:
    """Write the files of a new case, with marks where its author has to decide."""
    common = given(context, dataset=True)
    root, dataset = common.root, common.dataset
    _refuse_apart(from_git, {"--issue": issue, "--repro": repro, "--repository": repository})
    if from_git is not None:
        from evals.triage.cli.dataset_new import new_from_git

        _refuse_beside({"--codebase": codebase, "--from-job": from_job})
        return new_from_git(
            *(case, *from_git, root, dataset),
            issue=issue,
            repro=repro,
            repository=repository,
            archetype=archetype,
        )
    if from_job is not None:
        from evals.triage.cli.dataset_new import new_from_job

        return new_from_job(case, from_job, live_jobs, root, dataset, archetype=archetype, codebase=codebase)
    from evals.triage.cli.dataset_new import new

    return new(case, root, dataset, codebase=codebase, archetype=archetype)


def print_gold(case: str, root: Path, dataset: Path | None = None) -> int:
    """Print the gold that a case's patch proves, ready to be pasted into its case.yaml."""
    workspace = Workspace.at(root, dataset)
    layout = Layout(workspace.datasets)
    if case not in case_ids(workspace.datasets):
        raise DatasetError(f"{case}: there is no such case; `evals dataset new` makes one")
    patch = layout.patch(case)
    if not patch.exists():
        raise DatasetError(f"{patch}: is missing; without a patch gold is empty and there is nothing to derive")
    codebase = read_labels(layout.labels(case)).codebase
    if codebase is None:
        raise DatasetError(f"{patch}: belongs to an imported case; gold is derived only where the code is here")
    clean = layout.codebase(codebase)
    trees = (build_tree(clean, change, workspace.cache) for change in (None, patch))
    found = derive_gold(*trees).model_dump(mode="json", exclude={"whole_names"})  # those are of imported cases only
    print(yaml.safe_dump({"gold": found}, sort_keys=False), end="")
    return EXIT_OK


@dataset.command("import")
def dataset_import_command(
    context: typer.Context,
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
) -> int:
    """Turn foreign issues into cases: gold from the fix, defaults marked as such, a report of every row.

    With --repos the code of each row is taken out of the clone of its repository (DIR/owner/name, owner__name or name,
    bare ones with .git), once, into .cache; rows without a clone are as without it, and say so.

    Only the issue's text is shown to an agent. Gold functions are outermost definitions (`Class.method` counts as
    `Class`) and stay empty where the source does not state them.
    """
    from evals.triage.cli.dataset_new import import_cases

    return import_cases(source, path, out, given(context).root, repos)


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


SHOWN_CHARACTERS = 6_000  # of an issue; a huge log is not read in a terminal


def show(
    case_id: str, root: Path, dataset: Path | None = None, *, patch: bool = False, console: Console | None = None
) -> int:
    """Print issue and labels of one case, with `patch` its diff too. Returns 0.

    Raises:
        ConfigurationError: there is no such case.
        DatasetError: it cannot be loaded.
    """
    layout = Layout(Workspace.at(root, dataset).datasets)
    if case_id not in case_ids(layout.root):
        raise ConfigurationError(f"{case_id}: there is no such case{nearest_name(case_id, case_ids(layout.root))}")
    case = load_case(layout.root, case_id, load_policy(layout.policy))
    console = console or VisibleConsole(highlight=False, soft_wrap=True)
    issue = (case.title, ["", *_shortened(case.body).splitlines(), ""])
    for heading, lines in (issue, *_sections(case, layout, diff=patch)):
        console.print(Text(visible(heading), style="bold"))
        console.print(Text(visible(indent("\n".join(lines), "  "))))
    return EXIT_OK


def _sections(case: Case, layout: Layout, *, diff: bool) -> Iterator[tuple[str, list[str]]]:
    labels = case.labels
    yield "labels", _labels(case)
    yield (
        "root cause",
        [labels.root_cause, *(f"gold: {place}" for place in (*labels.gold.files, *labels.gold.functions))],
    )
    for number, alternative in enumerate(case.route_spec.alternatives, 1):
        yield f"route {number} of {len(case.route_spec.alternatives)}", list(_route(alternative))
    if labels.question.answers:
        yield "what the user knows", [f"{answer.topic}: {answer.answer}" for answer in labels.question.answers]
    if labels.decision_points:
        yield "decision points", [line for point in labels.decision_points for line in _point(point)]
    if labels.web:
        yield "pages", [f"{page}.md" for page in labels.web]
    path = layout.patch(case.id)
    if path.exists():
        text = path.read_text(encoding="utf-8")
        yield "patch", text.splitlines() if diff else [_counted(text)]


def _labels(case: Case) -> list[str]:
    labels = case.labels
    facts = {
        "case": f"{labels.id} ({case.repository})",
        "kind": f"{labels.archetype}, {labels.category}, {labels.severity}, {labels.split}",
        "question": labels.question.policy,
        "tags": ", ".join(labels.tags),
        "twin of": labels.pair_id if labels.pair_id != labels.id else None,
        "duplicate of": labels.duplicate_of,
        "canary": labels.canary,
        "from": f"{labels.origin.source}: {labels.origin.name}" if labels.origin else None,
    }
    return [f"{name}: {value}" for name, value in facts.items() if value]


def _route(alternative: RouteAlternative) -> Iterator[str]:
    steps = alternative.steps
    yield f"{steps.target} visits cost nothing, {steps.max} are allowed"
    yield from (" → ".join(exemplar) for exemplar in alternative.exemplars)
    hard = [constraint.id for constraint in alternative.constraints if constraint.hard]
    soft = [constraint.id for constraint in alternative.constraints if not constraint.hard]
    yield f"hard: {', '.join(hard) or 'none'}"
    yield f"soft: {', '.join(soft) or 'none'}"


def _point(point: DecisionPoint) -> Iterator[str]:
    visits = " → ".join(point.state.get("visits", ())) or "(nothing yet)"
    accepted = ", ".join(f"{choice} {grade:g}" for choice, grade in point.accept.items())
    yield f"{point.id}: {visits} ⇒ {accepted}"
    yield f"    {point.why}"


def _counted(patch: str) -> str:
    lines = patch.splitlines()
    files = [line.removeprefix("+++ b/") for line in lines if line.startswith("+++ b/")]
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    return f"{', '.join(files)}: {added} lines added, {removed} removed (--patch shows them)"


def _shortened(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS]}\n… {len(text) - SHOWN_CHARACTERS:,} more characters"


def stats(root: Path, dataset: Path | None = None, *, as_json: bool = False, console: Console | None = None) -> int:
    """Print the counts as tables, or as JSON. Returns 0; raises ConfigurationError, DatasetError."""
    counted = census(load_cases(Workspace.at(root, dataset).datasets).values())
    if as_json:
        print(counted.model_dump_json(indent=2))
    else:
        (console or VisibleConsole()).print(Group(_archetypes(counted), _slices(counted)))
    return EXIT_OK


def _archetypes(counted: Census) -> Table:
    points = f"{counted.decision_points} decision points"
    table = Table(title=f"{counted.cases} cases, {counted.clusters} clusters, {points}", show_footer=True)
    table.add_column("archetype", "all")
    for split in SPLITS:
        table.add_column(split, _share(counted.splits[split], counted.cases), justify="right")
    table.add_column("all", str(counted.cases), justify="right")
    for archetype, row in counted.archetypes.items():
        table.add_row(archetype, *(_count(row[split]) for split in SPLITS), str(sum(row.values())))
    return table


def _slices(counted: Census) -> Table:
    table = Table()
    for heading in ("slice", "value", "count"):
        table.add_column(heading, justify="right" if heading == "count" else "left")
    best = {str(choice): count for choice, count in counted.best_answers.items()}
    for name, rows in {**counted.slices, "twins": counted.twins, "best next node": best}.items():
        for value, count in rows.items():
            table.add_row(name, value, str(count))
        table.add_section()
    return table


def _count(number: int) -> str:
    return str(number) if number else ""


def _share(count: int, total: int) -> str:
    return f"{count} ({count / total:.0%})" if total else "0"


def lint(
    root: Path,
    jobs: int = 2,
    surroundings: Surroundings | None = None,
    *,
    cases: Collection[str] = (),
    dataset: Path | None = None,
    as_json: bool = False,
) -> int:
    """Print everything wrong with the dataset, as `path:line: case: check: message`, or as a JSON list.

    `cases` narrows it down to some cases and their codebases. `surroundings` are what only the graph knows; by default
    the graph as it is now. Checks that lack theirs are named. Returns 0 if there are no findings, else 1. Raises
    ConfigurationError.
    """
    workspace = Workspace.at(root, dataset)
    known = case_ids(workspace.datasets)
    unknown = sorted(set(cases) - set(known))
    if unknown:
        raise ConfigurationError(f"--case {unknown[0]}: there is no such case in {Layout(workspace.datasets).cases}")
    surroundings = surroundings or _the_graph()
    with bar("checking", len(cases) or len(known)) as shown:
        findings = run_lint(workspace.datasets, workspace.cache, jobs, surroundings, only=cases, done=shown.step)
    left_out = [*checks_left_out(surroundings), *_unproved(workspace, cases)]
    _show([_relative(finding, workspace) for finding in findings], left_out, as_json=as_json)
    return EXIT_WORSE if findings else EXIT_OK


def _the_graph() -> Surroundings:
    from evals.triage.graph_facts import surroundings

    return surroundings()


def _unproved(workspace: Workspace, cases: Collection[str]) -> list[str]:
    """What could not be proved on this Python, and on which it could."""
    python = platform.python_version()
    return [
        f"whether {name} is proved: {code.source} requires Python {code.requires_python}, and this is {python}"
        for name, code in not_run_here(workspace.datasets, cases).items()
    ]


def _show(findings: list[LintFinding], left_out: list[str], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False))
        for name in left_out:
            print(f"not checked: {name}", file=sys.stderr)  # an empty list must not look like a proof
        return
    for finding in findings:
        print(visible(str(finding)))
    for name in left_out:
        print(f"not checked: {name}")
    print(f"{len(findings)} finding{'s' if len(findings) > 1 else ''}" if findings else "no findings")


def _relative(finding: LintFinding, workspace: Workspace) -> LintFinding:
    """The same with a path as seen from the checkout, where the file is in it."""
    path = Path(finding.path)
    inside = path.is_relative_to(workspace.root)
    return replace(finding, path=path.relative_to(workspace.root).as_posix()) if inside else finding

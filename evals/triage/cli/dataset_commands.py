"""`evals dataset`: check, count, describe and fetch the labelled cases."""

import json
import platform
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer
import yaml
from rich.console import Group
from rich.table import Table
from rich.text import Text

from evals.cli.options import CORES, HERE, AsJson, given
from evals.cli.terminal import VisibleConsole, bar, shown, wide_console
from evals.errors import (
    EXIT_CANNOT_JUDGE,
    EXIT_OK,
    EXIT_WORSE,
    CannotJudgeError,
    ConfigurationError,
    DatasetError,
    ReleaseError,
    nearest_name,
)
from evals.models.case import Case, DecisionPoint, RouteAlternative
from evals.shared.display_text import visible
from evals.triage.dataset.case_code import build_tree
from evals.triage.dataset.checks.whole_dataset_checks import SPLITS, Census, census
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.derive_gold import derive_gold
from evals.triage.dataset.lint_dataset import not_run_here, run_lint
from evals.triage.dataset.lint_types import LintFinding
from evals.triage.dataset.load_cases import case_ids, load_case, load_cases, load_policy, read_labels
from evals.workspace import Workspace

if TYPE_CHECKING:
    from evals.models.run import Run

SHOWN_CHARACTERS = 6_000  # of an issue; a huge log is not read in a terminal
WIDTH = 160  # of a log file: the routes have to fit

dataset = typer.Typer(help="Check, count and describe the labelled cases.", no_args_is_help=True)


@dataset.command("lint")
def lint_command(
    context: typer.Context,
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN]...", help="With --disputes: run.json files.")
    ] = None,
    case: Annotated[list[str] | None, typer.Option("--case", help="Only this case (repeatable).")] = None,
    disputed: Annotated[bool, typer.Option("--disputes", help="List labels that recorded trials contradict.")] = False,
    as_json: AsJson = False,
) -> int:
    """Check the labels: patches, repros, gold files, routes, paired cases, leaked answers, balance of splits.

    Each finding is a line `path:line: case: check: message`. Exit codes: 0 no finding, 1 findings.

    --disputes lists labels that recorded answers contradict: suspect labels, routes that allow too much, constraints
    that alone decide cases, decisions in which no answer matches the label. Exit codes: 0 listed; 2 a run cannot be
    read, or two runs differ in a label; 3 no fully replayed trial, or the run is of too old a version.
    """
    common = given(context, dataset=not disputed)
    if disputed:
        if case:
            raise ConfigurationError("--case: of proofs; leave it or --disputes out")
        return disputes(runs or [common.stored(None)], as_json=as_json)
    if runs:
        raise ConfigurationError(f"{runs[0]}: a run goes with --disputes; --case names a case")
    return lint(case, as_json=as_json, dataset=common.dataset, jobs=common.jobs, root=common.root)


@dataset.command("fetch")
def fetch_command(
    context: typer.Context,
    prove: Annotated[bool, typer.Option(help="Then prove the labels, as `lint` does.")] = True,
) -> int:
    """Fetch the published packages of a dataset with your own pip, then prove the dataset's labels.

    Exit codes: 0 all fetched and proved, 1 a release differs from the dataset or cannot be used, or a label is not
    proved, 3 no index could be reached.
    """
    from evals.triage.dataset.fetch_packages import all_releases, fetch_all, lay_out
    from evals.triage.dataset.package_store import Shelf

    common = given(context, dataset=True)
    workspace = Workspace.at(common.root, common.dataset)
    cases = load_cases(workspace.datasets).values()
    wanted, shelf = all_releases(cases, workspace.datasets), Shelf(workspace.cache)
    if not wanted:
        raise ConfigurationError(
            f"{workspace.datasets}: no case is about a released package; there is nothing to fetch"
        )
    missing = shelf.missing(wanted)
    with bar("fetching", len(missing)) as progress:
        wrong = fetch_all(missing, shelf, progress.step, progress.note)
    for error in wrong:
        print(f"evals: {error}", file=sys.stderr)
    print(
        f"{len(wanted) - len(wrong)} of {len(wanted)} releases are here, {len(missing) - len(wrong)} fetched just now"
    )
    if wrong:
        return EXIT_WORSE if any(isinstance(error, ReleaseError) for error in wrong) else EXIT_CANNOT_JUDGE
    lay_out(cases, workspace.datasets, workspace.cache)
    return lint(root=common.root, dataset=common.dataset, jobs=common.jobs) if prove else EXIT_OK


@dataset.command("show")
def show_command(
    context: typer.Context,
    case: Annotated[str | None, typer.Argument(metavar="[CASE]", help="A case (default: a list of all).")] = None,
    patch: Annotated[bool, typer.Option("--patch", help="Also print the case's diff.")] = False,
    with_gold: Annotated[bool, typer.Option("--gold", help="Files and functions to blame, as YAML.")] = False,
    states: Annotated[
        str | None,
        typer.Option(metavar="VARIANT", help="States of this variant's recorded decisions, as decision points."),
    ] = None,
    suite: Annotated[str, typer.Option(help="The suite that has the variant of --states.")] = "prompts",
    counts: Annotated[bool, typer.Option("--counts", help="Number of cases by kind, split, ...")] = False,
    floors: Annotated[bool, typer.Option("--floors", help="Scores reached without a model.")] = False,
    as_json: AsJson = False,
) -> int:
    """Print one case: issue, labels, routes, answers of the user, decision points. Without CASE, list all cases."""
    common = given(context, dataset=states is None)
    root, other = common.root, common.dataset
    if (counts or floors) and case:
        raise ConfigurationError("--counts and --floors: of all cases; leave CASE out")
    if as_json and not (counts or floors):
        raise ConfigurationError("--json goes with --counts or --floors")
    if counts:
        return stats(as_json=as_json, dataset=other, root=root)
    if floors:
        return baselines(as_json=as_json, dataset=other, root=root)
    if case is None:
        if patch or with_gold or states:
            raise ConfigurationError("--patch, --gold and --states: of one case; name it")
        return list_cases(dataset=other, root=root)
    if states is not None:
        from evals.triage.cli.add_cases import harvest

        return harvest(case, states, suite, root)
    return gold(case, root, other) if with_gold else show(case, patch=patch, dataset=other, root=root)


def lint(
    case: Collection[str] | None = None,
    *,
    as_json: bool = False,
    dataset: Path | None = None,
    jobs: int = CORES,
    root: Path = HERE,
) -> int:
    """Prove the labels, and print what is wrong. Exit codes: 0 no finding, 1 findings."""
    from evals.triage.variant_graph import surroundings

    workspace, cases = Workspace.at(root, dataset), case or []
    known = case_ids(workspace.datasets)
    unknown = sorted(set(cases) - set(known))
    if unknown:
        raise ConfigurationError(f"--case {unknown[0]}: there is no such case in {Layout(workspace.datasets).cases}")
    with bar("checking", len(cases) or len(known)) as progress:
        findings = run_lint(workspace.datasets, workspace.cache, jobs, surroundings(), only=cases, done=progress.step)
    _show_findings([_relative(finding, workspace) for finding in findings], as_json=as_json)
    for name in _unproved(workspace, cases):
        # an empty list must not look like a proof
        print(f"not checked: {name}", file=sys.stderr if as_json else sys.stdout)
    return EXIT_WORSE if findings else EXIT_OK


def _unproved(workspace: Workspace, cases: Collection[str]) -> list[str]:
    """What could not be proved on this Python, and on which it could."""
    python = platform.python_version()
    return [
        f"whether {name} is proved: {code.source} requires Python {code.requires_python}, and this is {python}"
        for name, code in not_run_here(workspace.datasets, cases).items()
    ]


def _show_findings(findings: list[LintFinding], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False))
        return
    for finding in findings:
        print(visible(str(finding)))
    print(f"{len(findings)} finding{'s' if len(findings) > 1 else ''}" if findings else "no findings")


def _relative(finding: LintFinding, workspace: Workspace) -> LintFinding:
    """The same with a path as seen from the checkout, where the file is in it."""
    path = Path(finding.path)
    inside = path.is_relative_to(workspace.root)
    return replace(finding, path=path.relative_to(workspace.root).as_posix()) if inside else finding


def baselines(*, as_json: bool = False, dataset: Path | None = None, root: Path = HERE) -> int:
    """What is reached without any model: constant routes, simple rules, word search, silence."""
    from evals.report.numbers import percent
    from evals.triage.dataset.checks.whole_dataset_checks import LIMITS
    from evals.triage.dataset.floor_scores import kind_baselines

    workspace = Workspace.at(root, dataset)
    cases = list(load_cases(workspace.datasets).values())
    found = [*kind_baselines(cases, workspace.cache), *workspace.pack.floors(cases, workspace)]
    if as_json:
        print(json.dumps([item.model_dump(mode="json") for item in found], indent=2))
        return EXIT_OK
    caption = "route.pass counts every case twice: unsure (0.7) and sure (0.9)"
    table = Table(title="what needs no model", caption=caption)
    for heading in ("endpoint", "baseline", "share", "of", "target", "definition", "chosen"):
        table.add_column(heading, overflow="fold")
    for item in found:
        limit = 1.0 if item.name == "oracle" else LIMITS.get(item.name)
        target = ""
        if limit is not None:
            met = item.share == 1 if limit == 1 else item.share <= limit
            target = f"{'' if limit == 1 else 'at most '}{percent(limit)}: {'met' if met else 'missed'}"
        row = (item.endpoint, item.name, percent(item.share), str(item.n), target, item.definition, item.detail)
        table.add_row(*row)
    VisibleConsole(width=None if sys.stdout.isatty() else WIDTH).print(table)
    return EXIT_OK


def disputes(runs: Sequence[Path], *, as_json: bool) -> int:
    """Print suspect labels, lax routes, deciding constraints, and states that all answers are against."""
    from evals.analysis.label_disputes import disputes as found_in
    from evals.report.view.dispute_page import suspect_lists
    from evals.report.view.page_parts import Table as ReportTable

    named = {path.resolve(): path for path in runs}  # a file that is named twice counts once
    found = found_in([_disputed(path) for path in named.values()])
    if as_json:
        print(json.dumps(found.model_dump(mode="json"), indent=2, ensure_ascii=False))
        return EXIT_OK
    console = wide_console()
    who = ", ".join(found.who)
    console.print(f"{found.cases} cases, {found.trials} exact trials, answered by {who}", markup=False)
    for each in suspect_lists(found):
        if each.rows:
            cells = (
                [f"{row.name}\n{row.about}", *map("\n".join, row.cells), ", ".join(row.cases)] for row in each.rows
            )
            rows = tuple(tuple(one[: len(each.head)]) for one in cells)
            console.print(shown(ReportTable(each.title, each.head, rows), lines=True))
        else:
            console.print(each.title, markup=False)
    return EXIT_OK


def _disputed(path: Path) -> "Run":
    """A run with something to look at: that no list has a suspect must not come of there being nothing."""
    from evals.report.run_files import read_run

    run = read_run(path)
    seen = {case.id for case in run.cases if case.split != "holdout"}
    exact = [trial for trial in run.trials if trial.trace.provenance.label == "exact" and trial.trace.case_id in seen]
    if not exact:
        raise CannotJudgeError(f"{path}: no trial of a case that may be shown is exact; record the suite, and run it")
    if any(trial.reading is None for trial in exact):
        raise CannotJudgeError(f"{path}: stored before routes were read rule by rule; run the suite again")
    return run


def stats(*, as_json: bool = False, dataset: Path | None = None, root: Path = HERE) -> int:
    """Count the cases by archetype and split, codebase, category, severity, question policy, and twins."""
    counted = census(load_cases(Workspace.at(root, dataset).datasets).values())
    if as_json:
        print(counted.model_dump_json(indent=2))
    else:
        VisibleConsole().print(Group(_archetypes(counted), _slices(counted)))
    return EXIT_OK


def _archetypes(counted: Census) -> Table:
    points = f"{counted.decision_points} decision points"
    table = Table(title=f"{counted.cases} cases, {counted.clusters} clusters, {points}", show_footer=True)
    table.add_column("archetype", "all")
    for split in SPLITS:
        count = counted.splits[split]
        table.add_column(split, f"{count} ({count / counted.cases:.0%})" if counted.cases else "0", justify="right")
    table.add_column("all", str(counted.cases), justify="right")
    for archetype, row in counted.archetypes.items():
        table.add_row(archetype, *(str(row[split] or "") for split in SPLITS), str(sum(row.values())))
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


def list_cases(dataset: Path | None = None, root: Path = HERE) -> int:
    """Print every case with its archetype, split and title, one per line."""
    for case in load_cases(Workspace.at(root, dataset).datasets).values():
        print(visible(f"{case.id}  {case.known.kind}  {case.known.split}  {case.title}"))
    return EXIT_OK


def show(case: str, *, patch: bool = False, dataset: Path | None = None, root: Path = HERE) -> int:
    """Print one case, readable: issue, labels, routes, what the user knows, decision points."""
    layout = Layout(Workspace.at(root, dataset).datasets)
    if case not in case_ids(layout.root):
        raise ConfigurationError(f"{case}: there is no such case{nearest_name(case, case_ids(layout.root))}")
    found = load_case(layout.root, case, load_policy(layout.policy))
    console = VisibleConsole(highlight=False, soft_wrap=True)
    issue = (found.title, ["", *_shortened(found.body).splitlines(), ""])
    for heading, lines in (issue, *_sections(found, layout, diff=patch)):
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


def gold(case: str, root: Path = HERE, dataset: Path | None = None) -> int:
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

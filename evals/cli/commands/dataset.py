"""`evals dataset`: prove the labels, count the cases, print the schema, derive gold."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import yaml
from rich.console import Console
from rich.table import Table

from evals.dataset.baselines import always_ask, best_constant_route, bm25_first_file, two_branches
from evals.dataset.codebase import build_tree, materialise
from evals.dataset.finding import Surroundings
from evals.dataset.gold import derive_gold as derived
from evals.dataset.layout import Layout
from evals.dataset.lint import checks_left_out, run_lint
from evals.dataset.load import load_cases, read_labels
from evals.errors import EXIT_OK, EXIT_WORSE, DatasetError
from evals.models.case import Case, CaseFile
from evals.workspace import Workspace

SLICES: Final[Mapping[str, Callable[[Case], str]]] = {
    "split": lambda case: case.labels.split,
    "codebase": lambda case: case.labels.codebase,
    "archetype": lambda case: case.labels.archetype,
    "category": lambda case: case.labels.category,
    "severity": lambda case: case.labels.severity,
    "question": lambda case: case.labels.question.policy,
}


def lint(root: Path, jobs: int = 2, surroundings: Surroundings | None = None) -> int:
    """Print everything wrong with the dataset of the checkout `root`, as `path:line: case: check: message`.

    `surroundings` are what only the graph knows; by default the graph as it is now. Checks that lack theirs are named.
    Returns 0 if there are no findings, else 1. Raises ConfigurationError.
    """
    workspace = Workspace.at(root)
    if surroundings is None:
        from evals.subject.surroundings import surroundings as of_the_graph

        surroundings = of_the_graph()
    findings = run_lint(workspace.datasets, workspace.cache, jobs, surroundings)
    for finding in findings:
        print(str(finding).replace(f"{workspace.root}/", ""))
    for name in checks_left_out(surroundings):
        print(f"not checked: {name}")
    print(f"{len(findings)} findings" if findings else "no findings")
    return EXIT_WORSE if findings else EXIT_OK


def stats(root: Path, console: Console | None = None) -> int:
    """Print how many cases each slice holds, and what needs no model at all. Returns 0; raises DatasetError."""
    workspace = Workspace.at(root)
    cases = list(load_cases(workspace.datasets).values())
    console = console or Console()
    console.print(_slices(cases))
    console.print(_baselines(cases, workspace))
    return EXIT_OK


def _baselines(cases: list[Case], workspace: Workspace) -> Table:
    route, constant = best_constant_route(cases)
    table = Table(title="baselines: what needs no model", caption=f"constant route: {' → '.join(route)}")
    for heading in ("endpoint", "baseline", "cases"):
        table.add_column(heading)
    for hits in (constant, two_branches(cases), always_ask(cases)):
        table.add_row("route.pass", hits.name, f"{hits.hits} of {hits.cases}")
    ranking = bm25_first_file(cases, lambda case: materialise(case, workspace.datasets, workspace.cache))
    table.add_row("root_cause.hit", ranking.name, f"{ranking.hits} of {ranking.cases}")
    return table


def _slices(cases: list[Case]) -> Table:
    points = Counter(choice for case in cases for point in case.labels.decision_points for choice in point.accept)
    table = Table(title=f"{len(cases)} cases, {sum(len(c.labels.decision_points) for c in cases)} decision points")
    for heading in ("slice", "value", "cases"):
        table.add_column(heading, justify="right" if heading == "cases" else "left")
    for name, slice_of in SLICES.items():
        for value, count in sorted(Counter(map(slice_of, cases)).items()):
            table.add_row(name, value, str(count))
        table.add_section()
    for choice, count in sorted(points.items()):
        table.add_row("accepted next node", choice, f"{count} points")
    return table


def schema() -> int:
    """Print the JSON Schema of `case.yaml`, for editors. Returns 0."""
    print(json.dumps(CaseFile.model_json_schema(by_alias=True), indent=2, sort_keys=True))
    return EXIT_OK


def derive_gold(root: Path, case: str) -> int:
    """Print the `gold:` block that the case's patch proves. Returns 0; raises DatasetError."""
    workspace = Workspace.at(root)
    layout = Layout(workspace.datasets)
    patch = layout.patch(case)
    if not patch.exists():
        raise DatasetError(f"{patch}: is missing; without a patch gold is empty and there is nothing to derive")
    clean = layout.codebase(read_labels(layout.labels(case)).codebase)
    trees = (build_tree(clean, change, workspace.cache) for change in (None, patch))
    print(yaml.safe_dump({"gold": derived(*trees).model_dump(mode="json")}, sort_keys=False), end="")
    return EXIT_OK

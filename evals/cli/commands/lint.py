"""`evals dataset lint`: everything that is wrong with the labelled cases."""

import json
import platform
import sys
from collections.abc import Collection
from dataclasses import asdict, replace
from pathlib import Path

from evals.cli.terminal.progress import bar
from evals.dataset.finding import LintFinding, Surroundings
from evals.dataset.layout import Layout
from evals.dataset.lint import checks_left_out, not_run_here, run_lint
from evals.dataset.load import case_ids
from evals.errors import EXIT_OK, EXIT_WORSE, ConfigurationError
from evals.report.inert import visible
from evals.workspace import Workspace


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
    from evals.subject.surroundings import surroundings

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

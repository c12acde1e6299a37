"""The work of `evals dataset lint --disputes`."""

import json
from collections.abc import Sequence
from pathlib import Path

from evals.analysis.label_disputes import disputes as found_in
from evals.cli.terminal import shown, wide_console
from evals.errors import EXIT_OK, CannotJudgeError
from evals.models.dispute import Disputes
from evals.models.run import Run
from evals.report.stored_files import read_run
from evals.report.view.dispute_page import Suspect, SuspectList, suspect_lists
from evals.report.view.page_parts import Table


def disputes(paths: Sequence[Path], *, as_json: bool) -> int:
    """Print the four lists; a file that is named twice counts once.

    Raises:
        ConfigurationError: a run cannot be read, or two have different labels for a case.
        CannotJudgeError: there is nothing to list from.
    """
    named = {path.resolve(): path for path in paths}
    runs = [_read(path) for path in named.values()]
    found = found_in(runs)
    if as_json:
        print(json.dumps(found.model_dump(mode="json"), indent=2, ensure_ascii=False))
    else:
        _show(found)
    return EXIT_OK


def _read(path: Path) -> Run:
    """A run with something to look at: that no list has a suspect must not come of there being nothing."""
    run = read_run(path)
    seen = {case.id for case in run.cases if case.split != "holdout"}
    exact = [trial for trial in run.trials if trial.trace.provenance.label == "exact" and trial.trace.case_id in seen]
    if not exact:
        raise CannotJudgeError(f"{path}: no trial of a case that may be shown is exact; record the suite, and run it")
    if any(trial.reading is None for trial in exact):
        raise CannotJudgeError(f"{path}: stored before routes were read rule by rule; run the suite again")
    return run


def _show(found: Disputes) -> None:
    console = wide_console()
    console.print(f"{found.cases} cases, {found.trials} exact trials, answered by {', '.join(found.who)}", markup=False)
    for each in suspect_lists(found):
        if each.rows:
            console.print(shown(Table(each.title, each.head, tuple(_row(each, row) for row in each.rows)), lines=True))
        else:
            console.print(each.title, markup=False)


def _row(of: SuspectList, row: Suspect) -> tuple[str, ...]:
    cells = [f"{row.name}\n{row.about}", *("\n".join(lines) for lines in row.cells)]
    return (*cells, ", ".join(row.cases)) if len(cells) < len(of.head) else tuple(cells)

"""`evals cassette status`: how far the recordings reach, and what they hold."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evals.cassette.store import load
from evals.cli.terminal.console import VisibleConsole
from evals.cli.terminal.replaying import replayed_suites
from evals.errors import EXIT_OK
from evals.pipeline.asked import asked_in
from evals.recording.standing import FileStanding, Standing, SuiteStanding, file_standing, suite_standing
from evals.suites.load import names_on
from evals.workspace import Workspace


def status(
    suite: str | None,
    root: Path,
    *,
    jobs: int,
    today: date,
    as_json: bool = False,
    console: Console | None = None,
    dataset: Path | None = None,
) -> int:
    """Print a table per suite, one of the cassettes and one of a judge's, or JSON. Returns 0.

    "Unused" is said of what no variant of any shipped suite (or of the named one) asks for.

    Raises:
        ConfigurationError, DatasetError: a suite or the dataset is wrong.
        CassetteError: a cassette cannot be trusted.
    """
    workspace = Workspace.at(root, dataset)
    shipped = names_on(workspace.dataset_name)
    found = replayed_suites(shipped if suite in {None, *shipped} else [suite or ""], root, jobs=jobs)
    trials, judge = (_files_of(folder, asked) for folder, asked in asked_in(found, workspace).items())
    shown = [(chosen.suite.name, traces) for chosen, traces in found]
    standing = Standing(
        suites=tuple(suite_standing(name, traces) for name, traces in shown if suite not in shipped or name == suite),
        cassettes=trials,
        judge_cassettes=judge,
    )
    if as_json:
        print(standing.model_dump_json(indent=2))
        return EXIT_OK
    console = console or VisibleConsole(highlight=False)
    for part in standing.suites:
        console.print(_trials(part))
        console.print(*_nothing(part), soft_wrap=True)
    for files, what in ((standing.cassettes, "cassettes"), (standing.judge_cassettes, "cassettes of the judge")):
        if files or what == "cassettes":
            console.print(_files(files, what, today))
            console.print(_models(files), soft_wrap=True, markup=False)
    return EXIT_OK


def _files_of(folder: Path, asked: Mapping[str, set[str]]) -> tuple[FileStanding, ...]:
    paths = sorted(folder.glob("*.yaml"))
    return tuple(file_standing(path, load(path), asked.get(path.stem, set())) for path in paths)


def _trials(part: SuiteStanding) -> Table:
    """Cases of which something is recorded; the others are one sentence."""
    variants = list(next(iter(part.cases.values()), {}))
    exact = {name: sum(row[name] == "exact" for row in part.cases.values()) for name in variants}
    table = Table("case", title=f"suite {part.suite}", show_footer=True)
    table.columns[0].footer = "exact"
    for name in variants:
        table.add_column(name, f"{exact[name]}/{len(part.cases)}")
    for case, row in part.cases.items():
        if set(row.values()) != {"missing"}:
            table.add_row(case, *row.values())
    return table


def _nothing(part: SuiteStanding) -> Iterator[str]:
    missing = [case for case, row in part.cases.items() if set(row.values()) == {"missing"}]
    if missing:
        shown = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
        yield f"{len(missing)} cases of {part.suite} have nothing recorded: {shown}\n"


def _files(cassettes: tuple[FileStanding, ...], what: str, today: date) -> Table:
    size, count, unused = (
        sum(getattr(found, name) for found in cassettes) for name in ("size_bytes", "interactions", "unused")
    )
    table = Table(title=f"{len(cassettes)} {what}", show_footer=True)
    table.add_column("cassette", "all", no_wrap=True)
    table.add_column("interactions", str(count), justify="right")
    table.add_column("unused", str(unused), justify="right")
    table.add_column("size", _size(size), justify="right")
    table.add_column("age", justify="right")
    for found in cassettes:
        numbers = (str(found.interactions), str(found.unused or ""), _size(found.size_bytes), _age(found, today))
        table.add_row(found.case, *numbers)
    return table


def _models(cassettes: tuple[FileStanding, ...]) -> str:
    """Who answered how often in how many cassettes; JSON has it by cassette."""
    answers: Counter[str] = Counter()
    for found in cassettes:
        answers.update(found.models)
    spread = Counter(model for found in cassettes for model in found.models)
    said = [f"{model} ({count} answers in {spread[model]} cassettes)" for model, count in sorted(answers.items())]
    return f"answered by {', '.join(said) or 'nobody yet'}"


def _size(count: int) -> str:
    return f"{count / 1000:,.0f} kB"


def _age(found: FileStanding, today: date) -> str:
    """Days since the oldest answer: the one that goes stale first."""
    if not found.recorded_from:
        return "n/a"
    days = (today - datetime.fromisoformat(found.recorded_from).date()).days
    return f"{days} day{'' if days == 1 else 's'}"

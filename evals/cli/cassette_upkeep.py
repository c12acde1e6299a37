"""The work of `evals cassette` show (of all), tidy, merge and adopt."""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Final

from rich.table import Table

from evals import atomic_files as disk
from evals.cassettes import cassette_files as migrations
from evals.cassettes import manifest
from evals.cassettes.cassette_changes import Conflict, Union, preferring, union
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_files import MIGRATIONS, Steps, drop, load, read_any, rendered
from evals.cassettes.cassette_format import SCHEMA
from evals.cassettes.transcript import SHORT
from evals.cli.run_output import replayed_suites
from evals.cli.terminal import VisibleConsole
from evals.errors import EXIT_OK, EXIT_WORSE, CannotJudgeError, ConfigurationError
from evals.models.trace import Trace
from evals.pipeline.judge_stage import asked_in
from evals.pipeline.load_suite import below
from evals.recording.coverage import (
    FileStanding,
    RecordingState,
    SuiteStanding,
    file_standing,
    split_by_use,
    suite_standing,
)
from evals.run_context import RunContext
from evals.shared.display_text import counted, some
from evals.suites.suite_files import names_on
from evals.workspace import Workspace


def status(
    suite: str | None,
    root: Path,
    *,
    jobs: int,
    today: date,
    as_json: bool = False,
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
    standing = RecordingState(
        suites=tuple(suite_standing(name, traces) for name, traces in shown if suite not in shipped or name == suite),
        cassettes=trials,
        judge_cassettes=judge,
    )
    if as_json:
        print(standing.model_dump_json(indent=2))
        return EXIT_OK
    console = VisibleConsole(highlight=False)
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
    return counted(days, "day")


def prune(
    root: Path,
    also: Sequence[str] = (),
    *,
    jobs: int,
    yes: bool,
    shipped: Sequence[str] | None = None,
    dataset: Path | None = None,
) -> int:
    """Print what no trial asks for, and no judge of one is asked, and with `yes` drop it. Returns 0.

    Raises:
        CannotJudgeError: a trial of the `shipped` suites, or of those in `also`, is not exact: what it has not asked
            for yet may be just what it needs.
        CassetteError: a cassette cannot be trusted.
    """
    workspace = Workspace.at(root, dataset)
    found = replayed_suites(
        [*(names_on(workspace.dataset_name) if shipped is None else shipped), *also], root, jobs=jobs
    )
    _refuse_incomplete(found)
    dropped = sum(_tidied(folder, asked, workspace, yes=yes) for folder, asked in asked_in(found, workspace).items())
    print(_summary(dropped, done=yes))
    return EXIT_OK


def _tidied(folder: Path, asked: Mapping[str, set[str]], workspace: Workspace, *, yes: bool) -> int:
    """How many interactions of the cassettes in `folder` nobody asks for; with `yes` they are gone."""
    dropped = 0
    for path in sorted(folder.glob("*.yaml")):
        _, unused = split_by_use(load(path), asked.get(path.stem, set()))
        for interaction in unused:
            print(f"{below(path, workspace)}: {_named(interaction)}")
        dropped += len(unused)
        if yes and unused:
            drop(path, {(gone.key, gone.sample) for gone in unused})
    if yes and folder.is_dir():  # a tidying that was killed may have dropped all
        manifest.write(folder)
    return dropped


def _refuse_incomplete(found: Sequence[tuple[RunContext, tuple[Trace, ...]]]) -> None:
    short = [
        f"{chosen.suite.name}: {variant} ({count})"
        for chosen, traces in found
        for variant, count in suite_standing(chosen.suite.name, traces).incomplete.items()
    ]
    if short:
        raise CannotJudgeError(
            f"nothing was pruned: not every trial is exact, so what is unused is not known. Cases that are not, by "
            f"suite and variant: {', '.join(short)}; `evals plan SUITE` says what they miss"
        )


def _named(found: Interaction) -> str:
    sample = f" sample {found.sample}" if found.sample else ""
    return f"{found.agent} {found.key[:SHORT]}{sample}, answered by {found.model} on {found.recorded_at[:10]}"


def _summary(count: int, *, done: bool) -> str:
    if not count:
        return "nothing is unused"
    return f"{count} interactions {'dropped' if done else 'would go; `evals cassette tidy --unused --yes` drops them'}"


ASIDE: Final = Path(".cache/cassette-merge")
_SHOWN: Final = 5  # conflicts in the message; the files hold them all


def merge(base: Path, ours: Path, theirs: Path, path: str, prefer: str | None = None) -> int:
    """Write the union of both sides into `ours`. Returns 0, or 1 if the same request was answered differently.

    In a conflict `ours` stays as it is, byte for byte, and both sides are kept below `.cache/cassette-merge/`.

    Raises:
        ConfigurationError: `prefer` is no side.
        CassetteError: a side cannot be trusted; nothing is written.
    """
    if prefer not in {None, "ours", "theirs"}:
        raise ConfigurationError(f"--prefer {prefer}: say ours or theirs")
    sides = [_side(file, name, path) for file, name in ((base, "base"), (ours, "ours"), (theirs, "theirs"))]
    merged = union(*sides)
    if merged.conflicts and prefer is None:
        print(_message(path, merged, _kept_aside(base, ours, theirs, path)), file=sys.stderr)
        return EXIT_WORSE
    interactions = preferring(merged, prefer or "ours")
    disk.replace(ours, rendered(Cassette(ours, interactions, tree=sides[1].tree or sides[2].tree)))
    return EXIT_OK


def _side(file: Path, name: str, path: str) -> Cassette:
    """One side, called by its name in the repository; an empty file is one that did not exist."""
    content = file.read_bytes()
    called = Path(f"{path} ({name})")
    return read_any(content, called) if content else Cassette(called, exists=False)


def _kept_aside(base: Path, ours: Path, theirs: Path, path: str) -> list[Path]:
    ASIDE.mkdir(parents=True, exist_ok=True)
    kept = []
    for file, side in ((base, "base"), (ours, "ours"), (theirs, "theirs")):
        kept.append(ASIDE / f"{Path(path).stem}.{side}.yaml")
        shutil.copyfile(file, kept[-1])
    return kept


def _message(path: str, merged: Union, kept: list[Path]) -> str:
    count = len(merged.conflicts)
    shown = some(list(map(_named_cassette_merge, merged.conflicts)), _SHOWN)
    files = " ".join(str(file) for file in kept)
    return (
        f"evals: {path}: {count} request{'s were' if count > 1 else ' was'} answered differently on the two branches: "
        f"{shown}. The file is ours, unchanged; see `evals cassette show {kept[2]} --against {kept[1]}`, then "
        f"`evals cassette merge {files} {path} --prefer ours` (or theirs), `cp {kept[1]} {path}`, `git add {path}`"
    )


def _named_cassette_merge(conflict: Conflict) -> str:
    sample = f" sample {conflict.ours.sample}" if conflict.ours.sample else ""
    return f"{conflict.ours.agent} {conflict.ours.key[:SHORT]}{sample}"


def migrate(root: Path, steps: Steps = MIGRATIONS, *, dataset: Path | None = None) -> int:
    """Migrate every cassette and list it anew. Returns 0.

    Raises:
        CassetteError: one cannot be migrated; it stays as it is, those before it are migrated.
    """
    workspace = Workspace.at(root, dataset)
    paths = sorted(workspace.cassettes.glob("*.yaml"))
    for path in paths:
        found = migrations.migrate(path, steps)
        if found is not None:
            manifest.enter(path)
            print(f"{below(path, workspace)}: schema {found} is now {SCHEMA}")
    print(f"{len(paths)} cassettes have schema {SCHEMA}")
    return EXIT_OK

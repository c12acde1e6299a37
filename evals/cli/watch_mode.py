"""`evals run --watch`: run again whenever a file changes, in a process that has its libraries loaded by then."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, NoReturn, cast

import watchfiles

from evals.cli.next_watch_round import GO, NOT_RUN, WHEN_TOLD
from evals.cli.terminal import place_of
from evals.errors import ConfigurationError, EvalsError
from evals.models.run_request import RunRequest
from evals.paths import PACKAGE
from evals.pipeline.load_suite import dataset_of
from evals.project import FILE
from evals.shared.display_text import some
from evals.suites.suite_files import read_suite, suite_file
from evals.workspace import Workspace

LOOK_AGAIN_MS: Final = 1000
"""A change that the system did not report (a network folder, the moment before watching began) is seen after this."""

NAMED: Final = 5
"""Changed files that are listed."""

Snapshot = Mapping[Path, tuple[int, int]]
"""File -> time of change and size."""


def watch(request: RunRequest) -> NoReturn:
    """Run the suite now and after every change, until interrupted.

    Raises:
        ConfigurationError: there is no such suite or checkout, or every round would open the holdout.
        KeyboardInterrupt: Ctrl-C, the only way it ends.
    """
    if request.options.open_holdout is not None:
        raise ConfigurationError("--watch with --open-holdout would open it at every change; leave one of them out")
    places = what_it_rests_on(request)
    before: int | None = None
    ready: subprocess.Popen[bytes] | None = None
    seen: Snapshot = snapshot(places)
    command = ("run", *request.words())
    while True:
        code = _round(command, ready)
        since = f"exit code was {before}, is {code}; " if before not in (None, code) else ""
        _say(f"{since}watching for changes; Ctrl-C ends it")
        ready = _process(WHEN_TOLD, *command, stdin=subprocess.PIPE)  # it ends when this process does: its pipe does
        changed, seen = _wait(places, seen)
        _say(f"changed: {some([place_of(path, request.root.resolve()) for path in changed], NAMED)}")
        before, places = code, _still(request, places)
        seen = {path: seen.get(path, now) for path, now in snapshot(places).items()}


def what_it_rests_on(request: RunRequest) -> tuple[Path, ...]:
    """Folders and files to watch: the graph, the harness with its suites, the data, and what the suite names beside.

    Raises:
        ConfigurationError: no such suite or checkout, or a suite that does not validate.
    """
    name, root = request.suite, request.root
    suite = read_suite(name, root)
    workspace = Workspace.at(root, request.options.dataset or dataset_of(suite, root))
    settings = (variant.settings for variant in suite.variants)
    named = [Path(path) for each in settings for path in (each.get("prompt"), each.get("plan")) if path is not None]
    return (
        workspace.pack.folder(workspace.root),
        PACKAGE,
        workspace.datasets,
        workspace.cassettes,
        workspace.baselines,
        workspace.root / FILE,
        suite_file(name, workspace.root),
        *(path for path in named if not path.is_dir()),  # also one that is gone: it may come back
    )


def snapshot(places: Sequence[Path]) -> dict[Path, tuple[int, int]]:
    """The files below `places` as they are now. Hidden files, compiled code and editors' copies do not count."""
    found = {}
    for path in (path for place in places for path in _files(place)):
        try:
            stat = path.stat()
        except OSError:  # gone since it was listed
            continue
        found[path] = (stat.st_mtime_ns, stat.st_size)
    return found


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    for folder, folders, names in os.walk(place):
        folders[:] = [each for each in folders if not each.startswith(".") and each != "__pycache__"]
        yield from (Path(folder) / each for each in names if not each.startswith(".") and not each.endswith("~"))


def _wait(places: Sequence[Path], seen: Snapshot) -> tuple[list[Path], Snapshot]:
    """The files that are no longer as `seen`, and how they are now. Waits until there is one."""
    there = [place for place in places if place.exists()]
    changes = watchfiles.watch(*there, watch_filter=None, rust_timeout=LOOK_AGAIN_MS, yield_on_timeout=True)
    now = snapshot(places)
    while now == seen:  # also true where it changed during the round
        next(changes)
        now = snapshot(places)
    return sorted(path for path in now.keys() | seen.keys() if now.get(path) != seen.get(path)), now


def _still(request: RunRequest, places: tuple[Path, ...]) -> tuple[Path, ...]:
    """What to watch now; as before while the suite is broken, which the round says."""
    try:
        return what_it_rests_on(request)
    except EvalsError:
        return places


def _round(command: Sequence[str], ready: "subprocess.Popen[bytes] | None") -> int:
    """The exit code of one run: of the process that waits for it, or of a new one where that is gone or out of date."""
    code = NOT_RUN
    if ready is not None:
        with suppress(BrokenPipeError), cast("IO[bytes]", ready.stdin) as pipe:
            pipe.write(GO)
            code = _code_of(ready)
    return _code_of(_process(*command)) if code == NOT_RUN else code


def _process(*words: str, stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    """Our own command line again, in a group of its own, so that Ctrl-C reaches it once, through us."""
    command = [sys.executable, "-m", "evals", *words]
    return subprocess.Popen(command, stdin=stdin, process_group=0, bufsize=0)  # noqa: S603 - our own


def _code_of(process: "subprocess.Popen[bytes]") -> int:
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise


def _say(text: str) -> None:
    print(text, flush=True)  # in order with what the rounds print, also where nobody watches

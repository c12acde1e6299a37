"""The process of the next `--watch` round, started early: it imports what a run needs, and waits to be told to run.

It imports code of this package and of libraries only. Of data it keeps what follows from a text alone (`_remember`).
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final

from evals.application_pack import load_pack
from evals.fork_server import loaded_file, loading, origin
from evals.imported_files import any_newer, imported_files, signatures
from evals.models.run_request import RunRequest
from evals.pipeline.kept_verdict import RUN
from evals.project import FILE, Project
from evals.secret_filter import unsuspicious
from evals.workspace import Workspace

WHEN_TOLD: Final = "--when-told"
"""First word of its command line, before the command. Watching writes it, and nobody types it."""
NOT_RUN: Final = 75
"""Its exit code where it has run nothing."""
GO: Final = b"."
"""What it is told on stdin."""
MODULES: Final = ("cli.main", "cli.run_command", "pipeline.decide_run", "pipeline.decisive_step", "report.run_files")
"""What every run imports, below `evals`; most of it only when it gets there."""


def wait_for_go(words: Sequence[str]) -> bool:
    """Import, then wait for `GO`. Returns whether to run `words` (`--jobs N` and `--root DIR` among them): False where
    an imported file or the settings have changed, an import failed, or nobody is left to say it."""
    pipe = os.dup(0)
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)  # what the stdin of any other round is
    jobs, root = (words[words.index(name) + 1] for name in ("--jobs", "--root"))
    out = Path(words[words.index("--out") + 1]) if "--out" in words else None
    report = RunRequest("", Path(root), out=out).folder(Project.at(Path(root)).reports)
    settings = [FILE, str(Path(root) / FILE)]
    before = signatures(settings)
    try:
        loaded = signatures(_load(Path(root), report, in_workers=jobs != "1"))
    except Exception:  # noqa: BLE001 - a round that is started anew meets it again, and says it
        return False
    return (
        not any_newer(loaded)
        and os.read(pipe, 1) == GO
        and signatures(loaded) == loaded
        and signatures(settings) == before
    )


def _load(root: Path, report: Path, *, in_workers: bool) -> Iterator[str]:
    """Import; gives the files whose change makes that out of date."""
    here, name = (Project.at(place).pack for place in (Path(), root))  # its workers' server loads the one from here
    is_ours = here.startswith("evals.") and name.startswith("evals.")  # another may read its data when it is imported
    if is_ours and in_workers:
        origin()
    for module in MODULES:
        import_module(f"evals.{module}")
    if is_ours:
        pack = load_pack(name)
        for module in (*pack.report_sections, *pack.variant_metrics):
            import_module(module)
        _ = pack.load_cases, pack.prompts_named  # imported when they are asked for
        _remember(root, report)
        if in_workers:
            yield from _server_files()
        else:
            pack.preload()
    yield from imported_files()


def _remember(root: Path, report: Path) -> None:
    """Read the cases and the last report, while the server loads: labels are remembered by their file's text, and so is
    that a text holds no secret. What is another text by the time of the run is read then, which also says what is wrong
    with it."""
    with suppress(Exception):
        place = Workspace.at(root)
        place.pack.load_cases(place.datasets)
    with suppress(Exception):
        unsuspicious([(report / RUN).read_text(encoding="utf-8")], [])


def _server_files() -> list[str]:
    """What the workers' server is loaded from, when it is. Raises ChildProcessError if it has ended before."""
    while loading():
        if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            raise ChildProcessError
        time.sleep(0.02)
    return loaded_file().read_text(encoding="utf-8").split("\n") if loaded_file().exists() else []

"""Deliver: the verdict of a run and the files it leaves behind; those of an unchanged run are not made again.

All of them follow from what is judged and from the code, and are kept by just that. A run that only looks the same
(another label, scorer, template, baseline, another text of a prompt in git) has another name, and is judged.
"""

import platform
import zlib
from pathlib import Path
from typing import Final

from pydantic import BaseModel, TypeAdapter

from evals.cassette import disk
from evals.cassette.allowed_secrets import allowed_beside
from evals.cassette.hold_back import held_back
from evals.cassette.listing import NAME as MANIFEST
from evals.export.folder import write_files
from evals.kept import Kept, digest_of
from evals.libraries import Libraries, Listed
from evals.models.run import Run
from evals.pipeline.load import LoadedSuite
from evals.pipeline.since import all_code
from evals.runner.pool import Trials
from evals.subject.plain import is_plain
from evals.subject.prompt import default_prompts
from evals.subject.prompt_changes import usual_base
from evals.subject.prompt_committed import with_committed

RUN: Final = "run.json"
VERDICTS: Final = "verdicts"
"""Name of the list of packages that verdicts follow from, beside that of trials."""
_FILES: Final = TypeAdapter(dict[str, str])
_LEVEL: Final = 1
"""Of compression: a report is some megabytes, and mostly the words of its JSON."""
MOST: Final = 2_000
"""Trials of a run whose files are kept: as one text those of more take hundreds of megabytes."""


def deliver(chosen: LoadedSuite, trials: Trials, folder: Path, *, anew: bool = False) -> Run:
    """The run, judged, its files written to `folder`; `anew` judges and writes whatever is kept.

    Raises:
        ConfigurationError: the folder cannot be written.
        OSError: the cache cannot be.
    """
    kept, packages = Kept(chosen.workspace.cache / "runs"), Libraries(chosen.workspace.cache, VERDICTS)
    listed = packages.listed()
    name = _name(chosen, trials, listed)
    large = len(trials.traces) > MOST
    anew = anew or chosen.suite.judge is not None  # its tape and prompts are not in the name
    known = None if anew or large or is_plain() or listed is None else kept.get(name)
    if known is not None:
        files = _FILES.validate_json(zlib.decompress(known))
        write_files(folder, files)
        return Run.model_validate_json(files[RUN])
    from evals.export.files import files_of, write_fit  # noqa: PLC0415 - a fifth of a second, as the next
    from evals.pipeline.judge import judge  # noqa: PLC0415

    run = held_back(judge(chosen, trials), chosen.workspace.cassettes).sealed()
    if large:
        write_fit(run, folder)
        return run
    files = files_of(run)
    if chosen.suite.judge is None:
        now = packages.note()
        as_judged = _name(chosen, trials, now)
        if now is not None and (listed is None or as_judged == name):  # or something changed while it was judged
            kept.put(as_judged, zlib.compress(_FILES.dump_json(files), _LEVEL))
    write_files(folder, files)
    return run


def prepare(chosen: LoadedSuite) -> None:
    """Find and keep what `deliver` will need and no trial has a say in: what the dataset comes to without a model."""
    from evals.pipeline.judge import dataset_baselines  # noqa: PLC0415 - as in `deliver`

    dataset_baselines(chosen.cases, chosen.workspace)


def _name(chosen: LoadedSuite, trials: Trials, packages: Listed | None) -> str:
    """Everything that `judge` is given or reads, and the code, with the packages it works with."""
    said = with_committed(chosen.variants, chosen.workspace.root, usual_base())
    told = [
        chosen.suite,
        chosen.scope,
        allowed_beside(chosen.workspace.cassettes),
        *chosen.cases,
        *said,
        *trials.traces,
        *([chosen.baseline] if chosen.baseline else []),
    ]
    words = (*chosen.options.partial, chosen.record_command, chosen.bless_command, *chosen.unblessed)
    manifest = disk.read(chosen.workspace.cassettes / MANIFEST) or b""
    read = [f"{case} {digest}".encode() for case, digest in trials.recorded.items()]
    by = [_code(), (packages.digest if packages else "").encode()]
    words += tuple(default_prompts().values())
    counts = [len(chosen.cases), len(said), len(trials.traces), len(chosen.options.partial), len(chosen.unblessed)]
    return digest_of(*map(_mark, told), *(word.encode() for word in words), str(counts).encode(), manifest, *read, *by)


def _mark(model: BaseModel) -> bytes:
    """Its digest: the texts of all trials side by side are as large as the run."""
    return digest_of(model.model_dump_json(by_alias=True).encode()).encode()


def _code() -> bytes:
    """Of Python and all code, as this process executes it, or as it stands there where it executes none of it."""
    return digest_of(platform.python_version().encode(), all_code().encode()).encode()

"""Run a suite: replay its trials and write its files, reusing those of an unchanged run."""

import platform
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from pydantic import BaseModel, TypeAdapter

from evals import atomic_files as disk
from evals.atomic_files import write_files
from evals.cassettes.manifest_lines import NAME as MANIFEST
from evals.content_cache import Kept, digest_of
from evals.installed_packages import Libraries, Listed
from evals.models.run import Run
from evals.models.trace import Trace
from evals.pipeline.changed_files import all_code
from evals.pipeline.load_run import LoadedSuite, Selected
from evals.plain_replay import is_plain
from evals.prompt_history import usual_base, with_committed
from evals.recording.coverage import label_of
from evals.runner.trial_task import TRIAL_TIMEOUT
from evals.runner.trials import LOCAL, WHOLE, Progress, Share, TrialId, Trials, run_trials, scheduled, trial_id
from evals.secrets.allowed_secrets import allowed_beside
from evals.secrets.secret_filter import held_back
from evals.workspace import Workspace


def unwatched(trace: Trace, *, reused: bool, total: int) -> None:
    """Progress that nobody follows."""


def replay(
    chosen: Selected,
    *,
    jobs: int = 1,
    fresh: bool = False,
    trial_timeout: float = TRIAL_TIMEOUT,
    share: Share = WHOLE,
    scheduler: str = LOCAL,
    progress: Progress = unwatched,
    meanwhile: Callable[[], object] | None = None,
) -> Trials:
    """All trials of the share; `progress` is told of each.

    Args:
        chosen: cases and variants.
        jobs: worker processes; 1 runs in this one.
        fresh: run everything, also what is unchanged.
        trial_timeout: seconds after which a trial has failed.
        share: which of the trials.
        scheduler: `local`, or `dask://HOST:PORT`.
        progress: called once per trial, as they come.
        meanwhile: done in a process beside the workers, if there are any.

    Raises:
        ConfigurationError: the scheduler cannot be reached.
    """
    return run_trials(
        chosen.suite,
        chosen.cases,
        chosen.variants,
        chosen.workspace,
        jobs=jobs,
        fresh=fresh,
        progress=progress,
        trial_timeout=trial_timeout,
        share=share,
        elsewhere=scheduled(scheduler, chosen.workspace),
        meanwhile=meanwhile,
    )


def size(chosen: Selected, share: Share = WHOLE) -> int:
    """How many trials the share has."""
    return share.size(len(chosen.cases) * chosen.suite.samples) * len(chosen.variants)


def begun(chosen: Selected) -> Selected:
    """The cases that anything is recorded of: only their trials can replay."""
    return replace(chosen, cases=[case for case in chosen.cases if chosen.workspace.cassette(case.id).exists()])


def proven(traces: Iterable[Trace]) -> set[TrialId]:
    """The trials that these traces, of a replay, show to be wholly on tape: nothing of them is left to record."""
    return {trial_id(trace) for trace in traces if label_of(trace) == "exact"}


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
    from evals.pipeline.judge_run import judge  # noqa: PLC0415
    from evals.report.run_files import files_of, write_fit  # noqa: PLC0415 - a fifth of a second, as the next

    run = held_back(judge(chosen, trials), chosen.workspace.cassettes).sealed()
    if large:
        write_fit(run, folder, chosen.workspace.pack)
        return run
    files = files_of(run, chosen.workspace.pack)
    if chosen.suite.judge is None:
        now = packages.note()
        if now is not None and (
            listed is None or (now.extends(listed) and _name(chosen, trials, listed) == name)
        ):  # or something changed while it was judged
            kept.put(_name(chosen, trials, now), zlib.compress(_FILES.dump_json(files), _LEVEL))
    write_files(folder, files)
    return run


def prepare(chosen: LoadedSuite) -> None:
    """Find and keep what `deliver` will need and no trial has a say in: what the dataset comes to without a model."""
    from evals.pipeline.judge_run import dataset_baselines  # noqa: PLC0415 - as in `deliver`

    dataset_baselines(chosen.cases, chosen.workspace)


def _name(chosen: LoadedSuite, trials: Trials, packages: Listed | None) -> str:
    """Everything that `judge` is given or reads, and the code, with the packages it works with."""
    said = with_committed(chosen.variants, chosen.workspace.root, usual_base(), chosen.workspace.pack)
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
    by = [_code(chosen.workspace), (packages.digest if packages else "").encode()]
    words += tuple(chosen.workspace.pack.default_prompts().values())
    counts = [len(chosen.cases), len(said), len(trials.traces), len(chosen.options.partial), len(chosen.unblessed)]
    return digest_of(*map(_mark, told), *(word.encode() for word in words), str(counts).encode(), manifest, *read, *by)


def _mark(model: BaseModel) -> bytes:
    """Its digest: the texts of all trials side by side are as large as the run."""
    return digest_of(model.model_dump_json(by_alias=True).encode()).encode()


def _code(workspace: Workspace) -> bytes:
    """Of Python and all code, as this process executes it, or as it stands there where it executes none of it."""
    return digest_of(platform.python_version().encode(), all_code(workspace).encode()).encode()

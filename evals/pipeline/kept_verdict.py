"""Verdicts kept by content: an unchanged run is not decided and not written anew."""

import platform
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pydantic import BaseModel, TypeAdapter

from evals import atomic_files as disk
from evals.cassettes.manifest_lines import NAME as MANIFEST
from evals.content_cache import Kept, digest_of
from evals.installed_packages import Libraries, Listed
from evals.models.run import Run
from evals.pipeline.changed_files import all_code
from evals.prompt_history import edited_prompts, usual_base, with_committed
from evals.recording.failed_trials import failed_trials
from evals.run_context import RunContext
from evals.runner.trials import Trials
from evals.scoring.registry import LOADED, SCORED, own_files
from evals.secrets.secret_filter import allowed_beside
from evals.shortcut_switch import is_plain
from evals.workspace import Workspace

RUN: Final = "run.json"
VERDICTS: Final = "verdicts"
"""Name of the list of packages that verdicts follow from, beside that of trials."""
_FILES: Final = TypeAdapter(dict[str, str])
_LEVEL: Final = 1
"""Of compression: a report is some megabytes, and mostly the words of its JSON."""
MOST: Final = 2_000
"""Trials of a run whose files are kept: as one text those of more take hundreds of megabytes."""

Files = Mapping[str, str]
"""The files of a report: name -> text."""


@dataclass(frozen=True)
class KeptVerdict:
    """The place of one run's files in the cache."""

    context: RunContext
    trials: Trials

    def files(self, *, anew: bool) -> Files | None:
        """The files that were kept; None where there are none, or where everything was asked for `anew`."""
        listed, name = self._before
        if anew or not self._is_keepable or is_plain() or listed is None:
            return None
        found = Kept(self.context.workspace.cache / "runs").get(name)
        return None if found is None else _FILES.validate_json(zlib.decompress(found))

    def decided(self, finish: Callable[[], tuple[Run, Files]]) -> tuple[Run, Files]:
        """What `finish` gives; kept, unless something changed meanwhile."""
        listed, before = self._before
        run, files = finish()
        now = self._packages.note(own_files(LOADED | SCORED)) if self._is_keepable else None
        if now is None:
            return run, files
        name = after = _name(self.context, self.trials, now)
        if listed is not None and now.digest != listed.digest:  # packages were added: the rest is compared without
            after = _name(self.context, self.trials, listed)
        if listed is None or (now.extends(listed) and after == before):
            kept = zlib.compress(_FILES.dump_json(dict(files)), _LEVEL)
            Kept(self.context.workspace.cache / "runs").put(name, kept)
        return run, files

    @cached_property
    def _before(self) -> tuple[Listed | None, str]:
        """The packages that are known, and the run's name with them, as they were before it was decided."""
        listed = self._packages.listed()
        return listed, _name(self.context, self.trials, listed)

    @property
    def _is_keepable(self) -> bool:
        """Not of a suite with a judge, whose cassettes and prompts are not in the name."""
        return self.context.suite.judge is None and len(self.trials.traces) <= MOST

    @property
    def _packages(self) -> Libraries:
        return Libraries(self.context.workspace.cache, VERDICTS)


def _name(chosen: RunContext, trials: Trials, packages: Listed | None) -> str:
    """Everything that the verdict follows from or reads, and the code, with the packages it works with."""
    said = with_committed(chosen.variants, chosen.workspace.root, usual_base(), chosen.workspace.pack)
    place = chosen.workspace
    edited = edited_prompts(chosen.variants, place.root, usual_base(), place.pack, chosen.baseline)
    told = [
        chosen.suite,
        chosen.scope,
        allowed_beside(chosen.workspace.cassettes),
        *chosen.cases,
        *said,
        *edited,
        *trials.traces,
        *([chosen.baseline] if chosen.baseline else []),
    ]
    words = (*chosen.options.partial, chosen.record_command, chosen.bless_command, *chosen.unblessed)
    manifest = disk.read(chosen.workspace.cassettes / MANIFEST) or b""
    words += (str(failed_trials(chosen.workspace.cache)),)
    read = [f"{case} {digest}".encode() for case, digest in trials.recorded.items()]
    by = [_code(chosen.workspace), (packages.digest if packages else "").encode()]
    words += (*("decisive",) * chosen.request.decisive, *chosen.workspace.pack.default_prompts().values())
    counts = [len(chosen.cases), len(said), len(trials.traces), len(chosen.options.partial), len(chosen.unblessed)]
    return digest_of(*map(_mark, told), *(word.encode() for word in words), str(counts).encode(), manifest, *read, *by)


def _mark(model: BaseModel) -> bytes:
    """Its digest: the texts of all trials side by side are as large as the run."""
    return digest_of(model.model_dump_json(by_alias=True).encode()).encode()


def _code(workspace: Workspace) -> bytes:
    """Of Python and all code, as this process executes it, or as it stands there where it executes none of it."""
    return digest_of(platform.python_version().encode(), all_code(workspace).encode()).encode()

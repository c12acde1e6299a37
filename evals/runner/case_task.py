"""The unit of work: all variants of one case."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Final, TypeVar

from evals import atomic_files as disk
from evals.application_pack import DEFAULT, load_pack
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import FOLDER, Readings, keep_reading, read
from evals.cassettes.transcript import keep_words
from evals.content_cache import Kept, digest_of
from evals.errors import CassetteError, EvalsError
from evals.fork_server import loading
from evals.models.case import Case
from evals.models.run_request import TRIAL_TIMEOUT
from evals.models.suite import Variant
from evals.models.trace import Provenance, Trace
from evals.runner.trial_cache import ABSENT, ChangedError, Keeper, Pins, note
from evals.shortcut_switch import is_plain

T = TypeVar("T")


_ANSWERS: Final = "answers"
_MOST_KEPT: Final = 100
"""Trials of a case whose answers are known."""
ANY_CASSETTE: Final = "any cassette"
"""In the place of a cassette's digest, in the name of all else that a trial depends on."""


@dataclass(frozen=True)
class EarlierTrial:
    """A trial that depends on the same but for its cassette, and the digest of the answers it was given."""

    trace: Trace
    answers: str

    def holds(self, cassette: Cassette) -> bool:
        """Whether the cassette gives every request of the trial the same answers still. Then a trial goes the same way:
        its first request follows from what is the same, and each further one from the answers before it."""
        return answers_of(self.trace, cassette) == self.answers


def earlier(
    cache: Path, case_id: str, sample: int, names: Sequence[str], keeper: Keeper
) -> Iterator[EarlierTrial | None]:
    """For each name the last trial that was kept under it, if its trace can still be used."""
    told = _told(cache, case_id, sample) if names else {}
    for name in names:
        digest, _, answers = told.get(name, "").partition(" ")
        trace = keeper.get(digest) if digest else None
        yield None if trace is None else EarlierTrial(trace, answers)


def keep_answers(task: "CaseTask", traces: Sequence[Trace], at: Cassette) -> None:
    """Keep, under what else each trial depends on, which trial it was and what it was answered. One that misses an
    answer depends on all of its cassette: the nearest request is sought there."""
    found = {
        name: f"{digest} {answers_of(trace, at)}"
        for name, digest, trace in zip(task.names, task.digests, traces, strict=False)
        if trace.provenance.label == "exact" and not trace.misses and not trace.point_misses
    }
    told = _told(task.cache, task.case.id, task.sample)
    if found.items() - told.items():
        lines = [" ".join(line) for line in ({**told, **found}).items()][-_MOST_KEPT:]
        with suppress(OSError):  # of a full disk the trial itself tells, when it is kept
            Kept(task.cache / _ANSWERS).put(_place(task.case.id, task.sample), "\n".join(lines).encode())


def _told(cache: Path, case_id: str, sample: int) -> dict[str, str]:
    """Name of all else that a trial depends on -> its digest, and that of its answers."""
    kept = Kept(cache / _ANSWERS).get(_place(case_id, sample)) or b""
    return dict(line.split(" ", 1) for line in kept.decode().splitlines())


def _place(case_id: str, sample: int) -> str:
    return digest_of(case_id.encode(), str(sample).encode())


def answers_of(trace: Trace, cassette: Cassette) -> str:
    """Digest of all answers, in every repeat, to the requests that a trial made."""
    asked = trace.asked
    used = (found.answer for found in cassette.interactions if found.key in asked)
    return digest_of(str(cassette.tree).encode(), *used)


@dataclass(frozen=True)
class CaseTask:
    """One case under several variants. Everything in it can be sent to another process.

    `digests` are what the trials are stored under, variant by variant: a worker elsewhere checks its checkout by them.
    `prompts` are those of the variants, `recorded` is the digest of the cassette, and `pins` are what else the trials
    may rest on: what is run with other bytes than these has failed. Without them nothing is checked.
    """

    case: Case
    variants: tuple[Variant, ...]
    sample: int
    cassette: Path
    datasets: Path
    cache: Path
    vectors: Path
    samples: int = 1
    timeout_s: float = TRIAL_TIMEOUT
    digests: tuple[str, ...] = ()
    prompts: tuple[object | None, ...] = ()
    recorded: str = ""
    pins: Pins | None = None
    root: Path = Path()
    pack: str = DEFAULT
    process: str | None = None
    """Names the processes that may run it; None: any, this one too."""
    names: tuple[str, ...] = ()
    """What the answers of the trials are kept under, variant by variant; nothing is kept without."""
    earlier: tuple[EarlierTrial | None, ...] = ()
    """Trials that are the same if the cassette still gives the same answers, variant by variant."""

    @property
    def prepared(self) -> Iterator[tuple[Variant, object | None]]:
        """The variants, each with its prompt where that was handed over."""
        return zip_longest(self.variants, self.prompts)

    @property
    def distances(self) -> Path | None:
        """What was measured in released packages, where the case is about one."""
        return self.vectors.with_name("distances.npz") if self.case.tree else None

    @property
    def patience(self) -> float:
        """Seconds all its trials may take."""
        return self.timeout_s * len(self.variants)

    @property
    def overdue(self) -> str:
        """What is said of a trial that took too long."""
        return f"the trial did not end within {self.timeout_s:g} s; `--set trial-timeout=S` gives it more"

    def parts(self) -> list["CaseTask"]:
        """One task per variant."""
        return [self.only([number]) for number in range(len(self.variants))]

    def only(self, numbers: Sequence[int]) -> "CaseTask":
        """The task with some of its variants, counted from 0."""

        def chosen(values: tuple[T, ...]) -> tuple[T, ...]:
            return tuple(values[number] for number in numbers) if values else ()

        return replace(
            self,
            variants=chosen(self.variants),
            digests=chosen(self.digests),
            prompts=chosen(self.prompts),
            names=chosen(self.names),
            earlier=chosen(self.earlier),
        )


def lost(task: CaseTask, why: str) -> list[Trace]:
    """The failed trials of a task that no worker came back from."""
    return [failed(task, variant, why) for variant in task.variants]


def failed(task: CaseTask, variant: Variant, error: Exception | str) -> Trace:
    """A trial that never started or never ended, with the reason."""
    why = error if isinstance(error, str) else _one_line(error)
    return Trace(
        case_id=task.case.id,
        variant=variant.name,
        sample=task.sample,
        provenance=Provenance(label="failed"),
        error=_below(why, task.cassette.parent.parent, task.datasets.parent, task.cache.parent),
    )


def _below(text: str, *folders: Path) -> str:
    """The text with paths relative to the checkout, and to where a dataset of its own stands: a result must not name a
    machine's folders."""
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    return text


def _one_line(error: Exception) -> str:
    """Our own errors speak for themselves; of others the kind says as much as the words."""
    said = str(error) if isinstance(error, EvalsError) else f"{type(error).__name__}: {error}"
    return next(iter(said.splitlines()), type(error).__name__)


def run_case(task: CaseTask) -> list[Trace]:
    """Run the trials of one task, in order of its variants. What breaks comes back as a failed trace."""
    try:
        cassette = cassette_of(task)
    except (CassetteError, ChangedError) as error:
        return [failed(task, variant, error) for variant in task.variants]
    try:
        traces = _checked(task, _reused_or_replayed(task, cassette))
    except Exception as error:  # noqa: BLE001 - whatever it was, it is a failed trial that the gate sees
        return [failed(task, variant, error) for variant in task.variants]
    keep_answers(task, traces, cassette)
    if task.recorded not in ("", ABSENT):
        asked = {call.key for trace in traces for call in trace.calls}  # their words the report shows
        keep_words(cassette, task.recorded, asked, task.cache)  # here it is parsed, on every core
    return traces


def _reused_or_replayed(task: CaseTask, cassette: Cassette) -> list[Trace]:
    """The traces in order of the variants; only what the cassette answers otherwise than before is run."""
    found = {n: each.trace for n, each in enumerate(task.earlier) if each is not None and each.holds(cassette)}
    left = [number for number in range(len(task.variants)) if number not in found]
    if left:
        found |= zip(left, load_pack(task.pack, task.root).replay_case(task.only(left), cassette), strict=True)
    return [found[number] for number in range(len(task.variants))]


def _checked(task: CaseTask, traces: list[Trace]) -> list[Trace]:
    """The traces, if they follow from what their digests name. Raises ChangedError."""
    if task.pins is not None:
        task.pins.check()
        note(task.cache)
    return traces


def read_ahead(tasks: Iterable[CaseTask]) -> None:
    """Read cassettes for as long as workers cannot begin. Whatever is wrong with one costs its own trials, which say
    so."""
    while_loading(() if is_plain() else (partial(_read_now, task) for task in tasks))


def _read_now(task: CaseTask) -> None:
    with suppress(Exception):
        keep_reading(task.cassette, Readings(task.cache / FOLDER))


def while_loading(steps: Iterable[Callable[[], object]]) -> None:
    """Take steps for as long as workers cannot begin: a core would have nothing to do."""
    for step in steps:
        if not loading():
            return
        step()


def cassette_of(task: CaseTask) -> Cassette:
    """The cassette of a task's case. Raises CassetteError, SecretFoundError, or ChangedError if it is another file than
    the task is about."""
    content = disk.read(task.cassette)
    if task.recorded and task.recorded != (ABSENT if content is None else digest_of(content)):
        raise ChangedError([f"{task.cassette.parent.name}/{task.cassette.name}"])
    if content is None:
        return Cassette(task.cassette, exists=False)
    return read(content, task.cassette, None if is_plain() else Readings(task.cache / FOLDER))

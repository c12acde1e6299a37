"""Runs one unit of work, whatever breaks in it."""

from collections.abc import Iterable
from contextlib import suppress

from evals.cassette import disk
from evals.cassette.readings import FOLDER, Readings
from evals.cassette.store import Cassette, keep_reading, read
from evals.errors import CassetteError
from evals.kept import digest_of
from evals.models.trace import Trace
from evals.runner.digests import ABSENT
from evals.runner.keeper import note
from evals.runner.origin import loading
from evals.runner.pins import ChangedError
from evals.runner.task import CaseTask, failed
from evals.subject.plain import is_plain
from evals.uncollected import uncollected


def run_case(task: CaseTask) -> list[Trace]:
    """Run the trials of one task, in order of its variants. What breaks comes back as a failed trace."""
    try:
        cassette = cassette_of(task)
    except (CassetteError, ChangedError) as error:
        return [failed(task, variant, error) for variant in task.variants]
    with uncollected():  # a fifth of the time it takes to load them
        from evals.runner.replay import replay_case  # noqa: PLC0415 - loads LangGraph and Chroma: workers only

    try:
        return _checked(task, replay_case(task, cassette))
    except Exception as error:  # noqa: BLE001 - whatever it was, it is a failed trial that the gate sees
        return [failed(task, variant, error) for variant in task.variants]


def _checked(task: CaseTask, traces: list[Trace]) -> list[Trace]:
    """The traces, if they follow from what their digests name. Raises ChangedError."""
    if task.pins is not None:
        task.pins.check()
        note(task.cache)
    return traces


def read_ahead(tasks: Iterable[CaseTask]) -> None:
    """Read cassettes for as long as workers cannot begin: a core would have nothing to do. Whatever is wrong with one
    costs its own trials, which say so."""
    for task in tasks:
        if is_plain() or not loading():
            return
        with suppress(Exception):
            keep_reading(task.cassette, Readings(task.cache / FOLDER))


def cassette_of(task: CaseTask) -> Cassette:
    """The cassette of a task's case. Raises CassetteError, SecretFoundError, or ChangedError if it is another file than
    the task is about."""
    content = disk.read(task.cassette)
    if task.recorded and task.recorded != (ABSENT if content is None else digest_of(content)):
        raise ChangedError([f"{task.cassette.parent.name}/{task.cassette.name}"])
    if content is None:
        return Cassette(task.cassette, exists=False)
    return read(content, task.cassette, None if is_plain() else Readings(task.cache / FOLDER))

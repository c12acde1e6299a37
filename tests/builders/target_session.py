"""Runs targets in tests: recorded into a cassette of a temporary folder, and replayed from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import time_machine

from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import load
from evals.cassettes.event_loop_thread import Apart
from evals.cassettes.player import Tape
from evals.cassettes.recorder import Recorder
from evals.target.drive import Driver, TargetCall, TargetRun
from evals.target.http_bodies import answer_object
from evals.target.http_capture import Hosts, Recording, TargetTrial, stored_request
from evals.target.http_hooks import captured


@dataclass
class Session:
    """Runs calls; every one has the cassette at `path` unless it names another."""

    path: Path
    driver: Driver
    thread: Apart
    recorder: Recorder
    trials: list[TargetTrial] = field(default_factory=list)

    async def record(self, call: TargetCall, path: Path | None = None, **settings: Any) -> TargetRun:
        return await self._run(call, path, Recording(self.recorder, self.thread), settings)

    async def replay(self, call: TargetCall, path: Path | None = None, **settings: Any) -> TargetRun:
        return await self._run(call, path, None, settings)

    async def _run(self, call: TargetCall, path: Path | None, recording: Recording | None, settings: Any) -> TargetRun:
        tape = Tape(load(path or self.path))
        hosts = Hosts(settings.get("pass_through", frozenset()), settings.get("record", frozenset()))
        trial = TargetTrial(tape, recording, hosts, settings.get("tools", frozenset()))
        self.trials.append(trial)
        return await self.driver.run(call, trial)

    @property
    def cassette(self) -> Cassette:
        return load(self.path)


def real_now() -> datetime:
    """The time of day in UTC, also while the clock is frozen: a recording says when it was really made."""
    if time_machine.escape_hatch.is_travelling():
        return time_machine.escape_hatch.datetime.datetime.now(UTC)
    return datetime.now(UTC)


@contextmanager
def target_session(folder: Path) -> Iterator[Session]:
    """A session whose hooks are installed."""
    thread, driver = Apart(), Driver()
    recorder = Recorder(real_now, perf_counter, request_body=stored_request, answer_body=answer_object)
    try:
        with captured():
            yield Session(folder / "case.yaml", driver, thread, recorder)
    finally:
        driver.end()
        thread.end()

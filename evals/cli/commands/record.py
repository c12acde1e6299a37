"""`evals record`: ask an endpoint for what the cassettes lack, and prove that the answers replay."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console

from evals.cassette.recorder import Recorder
from evals.cassette.store import Interaction
from evals.cli.commands.progress import Bar, bar
from evals.cli.commands.selection import Options, Selected, selected
from evals.dataset.codebase import materialise
from evals.errors import EXIT_OK, ConfigurationError, EvalsError, RecordingError
from evals.models.case import Case
from evals.recording.live import Session, discard_staging
from evals.recording.local_llm.server import DEFAULT_PORT, HOST, is_healthy
from evals.recording.search_server import running
from evals.recording.wire import Endpoint, OpenAIWire
from evals.subject.trial import Repository, Subject

TAVILY: Final = "https://api.tavily.com"


def record(
    name: str,
    root: Path,
    options: Options,
    *,
    base_url: str | None,
    api_key: str,
    tavily_key: str,
    recorded_by: str,
    timeout_s: float,
) -> int:
    """Record what a suite lacks; returns 0 when everything asked for is on tape and proven to replay.

    Raises:
        ConfigurationError: no endpoint is named.
        RecordingError: the endpoint failed or a trial does not replay; what was answered is kept for the next try.
    """
    chosen = selected(name, root, options)
    llm = _endpoint(base_url, api_key)
    with search_endpoint(chosen.workspace.datasets, tavily_key) as search:
        return asyncio.run(_record(chosen, llm, search, recorded_by=recorded_by, timeout_s=timeout_s))


def _endpoint(base_url: str | None, api_key: str) -> Endpoint:
    """The endpoint that was named, else the local model if it is being served."""
    if base_url:
        return Endpoint(base_url, api_key)
    local = f"http://{HOST}:{DEFAULT_PORT}"
    if not is_healthy(local):
        raise ConfigurationError(
            "no endpoint: start the local model with `make local-llm`, or name one with --base-url or EVALS_BASE_URL"
        )
    return Endpoint(f"{local}/v1", "")


@contextmanager
def search_endpoint(datasets: Path, tavily_key: str) -> Iterator[Endpoint]:
    """Tavily where there is a key for it, else the offline web served on loopback."""
    if tavily_key:
        yield Endpoint(TAVILY, tavily_key)
    else:
        with running(datasets) as url:
            yield Endpoint(url, "")


@dataclass(frozen=True)
class Tally:
    """Trials proven and failed, and the answers asked for."""

    proven: int = 0
    failed: int = 0
    asked: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.proven + other.proven, self.failed + other.failed, self.asked + other.asked)

    @property
    def hopeless(self) -> bool:
        """A whole case without one success: the endpoint is not going to get better by itself."""
        return self.failed > 1 and not self.proven


async def _record(chosen: Selected, llm: Endpoint, search: Endpoint, *, recorded_by: str, timeout_s: float) -> int:
    trials = len(chosen.cases) * len(chosen.variants) * chosen.suite.samples
    with bar(f"recording {chosen.suite.name}", trials) as progress:
        recorder = Recorder(
            now=lambda: datetime.now(UTC),
            stopwatch=time.monotonic,
            recorded_by=recorded_by,
            recorded=lambda answer: progress.say(_spoken(answer)),
        )
        session = Session(chosen.workspace, recorder, OpenAIWire(llm), search, timeout_s)
        try:
            total = Tally()
            for case in chosen.cases:
                total += await _record_case(chosen, case, session, progress)
                if total.hopeless:
                    raise RecordingError(f"no trial could be recorded from {llm.base_url}; see the lines above")
        finally:
            await session.close()
    Console(soft_wrap=True).print(
        f"Recorded {chosen.suite.name}: {total.proven} of {trials} trials replay exactly, {total.asked} new answers "
        f"from {llm.base_url}.",
        highlight=False,
    )
    if total.failed:
        raise RecordingError(f"{total.failed} trials were not recorded; what was answered is kept, run it again")
    return EXIT_OK


async def _record_case(chosen: Selected, case: Case, session: Session, progress: Bar) -> Tally:
    """All variants and samples of one case; a trial that fails is said at once, the others go on."""
    workspace = chosen.workspace
    repository = Repository.at(materialise(case, workspace.datasets, workspace.cache), workspace.vectors)
    tally = Tally()
    for info in chosen.variants:
        for sample in range(chosen.suite.samples):
            where = f"{case.id} {info.variant.name}"
            try:
                done = await session.record(
                    case,
                    info.variant,
                    sample,
                    lambda variant, clients: Subject.of(variant, clients, repository),
                )
            except EvalsError as error:
                tally += Tally(failed=1)
                _note(f"{where}: {error}")
                progress.step(where)
                continue
            tally += Tally(proven=1, asked=done.asked)
            _note(f"{where}: {' '.join(done.trace.route)} ({done.asked} new answers, {done.reused} known)")
            progress.step(where)
    repository.save_vectors(workspace.vectors)
    if not tally.failed:
        discard_staging(workspace, case.id)
    return tally


def _note(text: str) -> None:
    Console(stderr=True, soft_wrap=True).print(text, highlight=False, markup=False)


def _spoken(answer: Interaction) -> str:
    tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
    return f"{answer.agent}: {tokens} tokens in {answer.latency_ms / 1000:.0f} s"

"""`evals record`: ask an endpoint for what the cassettes lack, and prove that the answers replay."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console

from evals.cassette.recorder import Recorder
from evals.cassette.store import Interaction
from evals.cli.commands.progress import Bar, bar
from evals.cli.commands.selection import Options, Selected, selected
from evals.dataset.codebase import materialise
from evals.errors import EXIT_OK, ConfigurationError
from evals.models.case import Case
from evals.recording.live import Session, discard_staging
from evals.recording.search_server import running
from evals.recording.wire import Endpoint
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
    if not base_url:
        raise ConfigurationError(
            "no endpoint: give --base-url (or EVALS_BASE_URL), or run `make record`, which starts a local model"
        )
    chosen = selected(name, root, options)
    with _search(chosen.workspace.datasets, tavily_key) as search:
        return asyncio.run(
            _record(chosen, Endpoint(base_url, api_key), search, recorded_by=recorded_by, timeout_s=timeout_s)
        )


@contextmanager
def _search(datasets: Path, tavily_key: str) -> Iterator[Endpoint]:
    """Tavily where there is a key for it, else the offline web served on loopback."""
    if tavily_key:
        yield Endpoint(TAVILY, tavily_key)
    else:
        with running(datasets) as url:
            yield Endpoint(url, "")


async def _record(chosen: Selected, llm: Endpoint, search: Endpoint, *, recorded_by: str, timeout_s: float) -> int:
    trials = len(chosen.cases) * len(chosen.variants) * chosen.suite.samples
    with bar(f"recording {chosen.suite.name}", trials) as progress:
        recorder = Recorder(
            now=lambda: datetime.now(UTC),
            stopwatch=time.monotonic,
            recorded_by=recorded_by,
            recorded=lambda answer: progress.say(_spoken(answer)),
        )
        session = Session(chosen.workspace, recorder, llm, search, timeout_s)
        try:
            asked = [await _record_case(chosen, case, session, progress) for case in chosen.cases]
        finally:
            await session.close()
    Console().print(
        f"Recorded {chosen.suite.name}: {trials} trials replay exactly, {sum(asked)} new answers from {llm.base_url}.",
        highlight=False,
    )
    return EXIT_OK


async def _record_case(chosen: Selected, case: Case, session: Session, progress: Bar) -> int:
    """All variants and samples of one case; returns how many answers were new."""
    workspace = chosen.workspace
    repository = Repository.at(materialise(case, workspace.datasets, workspace.cache), workspace.vectors)
    asked = 0
    for info in chosen.variants:
        for sample in range(chosen.suite.samples):
            done = await session.record(
                case,
                info.variant,
                sample,
                lambda variant, clients: Subject.of(variant, clients, repository),
            )
            asked += done.asked
            progress.step(f"{case.id} {info.variant.name}: {' '.join(done.trace.route)}")
            Console(stderr=True).print(
                f"{case.id} {info.variant.name}: {' '.join(done.trace.route)} ({done.asked} new answers)",
                highlight=False,
            )
    repository.save_vectors(workspace.vectors)
    discard_staging(workspace, case.id)
    return asked


def _spoken(answer: Interaction) -> str:
    tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
    return f"{answer.agent}: {tokens} tokens in {answer.latency_ms / 1000:.0f} s"

"""The endpoint or the batch rounds that a command asks, what the terminal says of them, and Ctrl-C meanwhile."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from evals.cassettes.recorder import Recorder, StopSignal
from evals.cli.options import AskingSettings
from evals.cli.terminal import ProgressBar, note, say
from evals.errors import (
    EXIT_CANNOT_JUDGE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    ConfigurationError,
    RecordingError,
    RecordingStoppedError,
)
from evals.pipeline.record_suite import Batch, EndpointOptions
from evals.recording.batch_files import Round, by_file, write_round
from evals.recording.batch_rounds import ATTEMPTS, RoundState
from evals.recording.endpoint import DEFAULT_PORT, HOST, Endpoint, is_healthy
from evals.secret_filter import AllowedSecrets
from evals.workspace import Workspace

TAVILY: Final = "https://api.tavily.com"
NO_SEARCH: Final = "http://search.invalid"
"""An address that nobody has: where searches go that the pack serves none for."""
AT_ONCE: Final = 4
"""Requests in flight unless said otherwise; the local model is always asked one at a time."""
RETRIES: Final = 4
_MEND: Final = "see above and mend that; the same command asks only for what is missing or failed"


@dataclass(frozen=True)
class Asking:
    """Whom to ask, how, and within what limits."""

    base_url: str | None
    api_key: str
    recorded_by: str | None
    timeout_s: float
    retries: int
    concurrency: int | None
    budget_usd: float | None
    max_requests: int | None
    prices: Path | None

    @classmethod
    def of(
        cls,
        asked: AskingSettings,
        base_url: str | None,
        budget: float | None,
        max_requests: int | None,
        prices: Path | None,
        recorded_by: str | None = None,
    ) -> "Asking":
        """What the options of a command say; the key is read from the environment."""
        retries = RETRIES if asked.retries is None else asked.retries
        key = os.environ.get(asked.api_key_env, "")
        where = (base_url, key, recorded_by, asked.timeout, retries, asked.concurrency)
        return cls(*where, budget, max_requests, prices)

    def options(self, llm: Endpoint, *, refresh: bool = False) -> EndpointOptions:
        """How this endpoint is asked."""
        return EndpointOptions(self.timeout_s, self.retries, at_once(llm, self.concurrency), refresh)


def batch_of(
    asked: AskingSettings,
    export: Path | None,
    files: Sequence[Path] | None,
    more: Sequence[Path] | None,
    answer_with: str | None,
    recorded_by: str | None = None,
) -> Batch:
    """The batch rounds that the options of a command ask for.

    Raises:
        ConfigurationError: the options do not go together, or arguments are no answer files.
    """
    if more and not files:
        raise ConfigurationError(f"one suite at a time: {more[0]} is too much (answers go to --import)")
    answers = (*(files or ()), *(more or ()))
    return Batch(export, answers, answer_with, asked.shards, asked.keep_invalid, recorded_by, asked.model).checked()


def refuse_live(asked: AskingSettings, base_url: str | None, **options: object) -> None:
    """Batch rounds ask nobody, so what bounds the asking would do nothing there. Raises ConfigurationError."""
    named = None if base_url == os.environ.get("EVALS_BASE_URL") else base_url
    found = {f"--{name.replace('_', '-')}": value for name, value in {"base_url": named, **options}.items()}
    found |= {"--set concurrency": asked.concurrency, "--set retries": asked.retries}
    if given := [name for name, value in found.items() if value is not None and value is not False]:
        raise ConfigurationError(
            f"{', '.join(given)}: only where an endpoint is asked, not in batch rounds; leave it out"
        )


def endpoint_of(live: Asking, workspace: Workspace) -> Endpoint:
    """The endpoint that was named; for a target else the one that `OPENAI_BASE_URL` names, as for most targets."""
    url, key = live.base_url, live.api_key
    if workspace.pack.own_endpoint:
        from evals.target.langgraph_json import read_langgraph_json

        around = {**read_langgraph_json(workspace.pack.folder(workspace.root)).environment, **os.environ}
        url, key = url or around.get("OPENAI_BASE_URL"), key or around.get("OPENAI_API_KEY", "")
    return llm_endpoint(url, key)


def llm_endpoint(base_url: str | None, api_key: str) -> Endpoint:
    """The endpoint that was named, else the local model if it is being served."""
    if base_url:
        return Endpoint(base_url, api_key)
    local = f"http://{HOST}:{DEFAULT_PORT}"
    if not is_healthy(local):
        raise ConfigurationError(
            "no endpoint: name one with --base-url or EVALS_BASE_URL, or serve a local model "
            "(a target's own OPENAI_BASE_URL will do; cassettes keep no host)"
        )
    return Endpoint(f"{local}/v1", "")


def at_once(llm: Endpoint, wanted: int | None) -> int:
    """Requests in flight. The local model gives other bytes when it is asked two things at once."""
    parts = urlsplit(llm.base_url)
    if (parts.hostname, parts.port) not in ((HOST, DEFAULT_PORT), ("localhost", DEFAULT_PORT)):
        return wanted or AT_ONCE
    if wanted and wanted > 1:
        note(f"concurrency={wanted} is ignored: the local model is asked one at a time; two at once change its answers")
    return 1


@contextmanager
def search_endpoint(workspace: Workspace, tavily_key: str) -> Iterator[Endpoint]:
    """Tavily where there is a key for it, else the search that the pack serves on loopback."""
    if tavily_key:
        yield Endpoint(TAVILY, tavily_key)
    else:
        with workspace.pack.recording_services(workspace.datasets) as urls:
            yield Endpoint(urls.get("search", NO_SEARCH), "")


INTERRUPTED: Final = RecordingStoppedError("interrupted")
"""Why a recorder has stopped whose user wanted it to."""


@contextmanager
def finishing_on_interrupt(recorder: Recorder, progress: ProgressBar) -> Iterator[None]:
    """Answers under way are paid for, and waited for. The second Ctrl-C ends everything."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        recorder.stop.set(INTERRUPTED)
        progress.note(f"finishing {recorder.in_flight} requests under way; Ctrl-C again leaves them")

    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def end_of_asking(stop: StopSignal, unfinished: str = "") -> int:
    """0 where all was asked and answered, 130 after Ctrl-C.

    Raises:
        RecordingError: why the endpoint stopped, or what is `unfinished`.
    """
    if stop.reason is INTERRUPTED:
        return EXIT_INTERRUPTED
    if stop.reason is not None:
        raise stop.reason
    if unfinished:
        raise RecordingError(f"{unfinished}; {_MEND}")
    return EXIT_OK


def say_rounds(batch: Batch, standing: RoundState, allowed: AllowedSecrets, of: str, things: str) -> int:
    """Say where batch rounds leave `of` (a suite and what became of its `things`), and write the next round; 0 when
    nothing waits, else 3."""
    before = f", {standing.known_before} on record before" if standing.known_before else ""
    say(f"{of} ({standing.taken} new answers{before}).")
    if standing.failed:
        say(f"{standing.failed} {things} failed; {_MEND}.")
    if standing.pending:
        wait = f"{standing.waiting} {things} wait for {len(standing.pending)} answers"
        if batch.answer_with:
            say(f"{wait}: each was asked {ATTEMPTS} times, and no answer could be used.")
        elif batch.export:
            found = write_round(batch.export, standing.pending, batch.shards, allowed)
            say(f"{wait}; round {found.number} asks for them in {next_round(found)}")
        else:
            say(f"{wait}; --export DIR writes the requests.")
    return EXIT_CANNOT_JUDGE if standing.failed or standing.waiting else EXIT_OK


def next_round(found: Round) -> str:
    """Folder and files of a round that was written, and what to do with them."""
    files = ", ".join(f"{name} ({count})" for name, count in sorted(by_file(found).items()))
    return f"{found.folder}: {files}.\nNext: the same command again, with --import and the files that answer them."


def announced(found: Round, what: str) -> None:
    """One line on a round before a command answers it."""
    files = by_file(found)
    shards = f" in {len(files)} shards" if len(files) > 1 else ""
    note(f"round {found.number}: {files.total()} requests{shards}; {what}")

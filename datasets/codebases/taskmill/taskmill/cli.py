"""The command line: `taskmill enqueue | worker | scheduler | status | cancel | revive | prune`."""

import argparse
import json
import logging
import signal
import sys
import threading
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from taskmill import __version__
from taskmill.clock import SystemClock
from taskmill.config import Settings, load_settings
from taskmill.errors import ConfigError, TaskmillError
from taskmill.leases import LeaseTable
from taskmill.metrics import Metrics
from taskmill.queue import DEFAULT_PRIORITY, Queue
from taskmill.registry import default_registry, import_tasks
from taskmill.retry import RetryPolicy
from taskmill.scheduler import Scheduler, read_entries, zone
from taskmill.store import JobStore
from taskmill.worker import Worker


@dataclass(frozen=True)
class App:
    """The parts every command needs, wired once."""

    settings: Settings
    config_path: Path | None
    store: JobStore
    queue: Queue
    metrics: Metrics


def build_app(config_path: Path | None) -> App:
    """Wire the parts from the settings. Raises ConfigError."""
    settings = load_settings(config_path)
    store = JobStore(settings.database)
    metrics = Metrics()
    queue = Queue(store, default_registry, SystemClock(), metrics, max_attempts=settings.max_attempts)
    return App(settings, config_path, store, queue, metrics)


def _stop_on_signal() -> threading.Event:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _enqueue(app: App, options: argparse.Namespace) -> int:
    try:
        kwargs = json.loads(options.kwargs)
    except json.JSONDecodeError as error:
        raise ConfigError(f"--kwargs is not JSON: {error}") from error
    job = app.queue.enqueue(
        options.task,
        queue=options.queue,
        priority=options.priority,
        delay=options.delay,
        unique_key=options.unique_key,
        kwargs=kwargs,
    )
    print(f"job {job.id} {job.state.value} in queue {job.queue}")
    return 0


def _worker(app: App, _: argparse.Namespace) -> int:
    settings = app.settings
    leases = LeaseTable(app.store, SystemClock(), lease_seconds=settings.lease_seconds)
    retry = RetryPolicy(settings.retry_base_seconds, settings.retry_factor, settings.retry_max_seconds)
    worker = Worker(settings.worker_name, settings.queues, leases, default_registry, retry, app.metrics)
    worker.run(_stop_on_signal(), settings.poll_seconds, settings.reap_seconds)
    print(app.metrics.render(), end="")
    return 0


def _scheduler(app: App, _: argparse.Namespace) -> int:
    document = tomllib.loads(app.config_path.read_text(encoding="utf-8")) if app.config_path else {}
    entries = read_entries(document.get("recurring", []))
    scheduler = Scheduler(entries, app.queue, app.store, SystemClock(), tz=zone(app.settings.timezone))
    scheduler.run(_stop_on_signal(), app.settings.poll_seconds)
    return 0


def _status(app: App, _: argparse.Namespace) -> int:
    for (queue, state), n in app.store.counts().items():
        print(f"{queue:<16} {state:<10} {n:>8}")
    return 0


def _cancel(app: App, options: argparse.Namespace) -> int:
    print(f"job {app.queue.cancel(options.job).id} cancelled")
    return 0


def _revive(app: App, options: argparse.Namespace) -> int:
    print(f"job {app.queue.revive(options.job).id} queued")
    return 0


def _prune(app: App, options: argparse.Namespace) -> int:
    print(f"{app.queue.prune(options.days)} jobs deleted")
    return 0


_COMMANDS: dict[str, Callable[[App, argparse.Namespace], int]] = {
    "enqueue": _enqueue,
    "worker": _worker,
    "scheduler": _scheduler,
    "status": _status,
    "cancel": _cancel,
    "revive": _revive,
    "prune": _prune,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="taskmill")
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("--config", type=Path)
    commands = parser.add_subparsers(dest="command", required=True)
    enqueue = commands.add_parser("enqueue", help="queue one job")
    enqueue.add_argument("task")
    enqueue.add_argument("--queue")
    enqueue.add_argument("--priority", type=int, default=DEFAULT_PRIORITY)
    enqueue.add_argument("--delay", type=float, default=0.0)
    enqueue.add_argument("--unique-key")
    enqueue.add_argument("--kwargs", default="{}")
    for name in ("worker", "scheduler"):
        commands.add_parser(name).add_argument("--import", dest="modules", action="append", default=[])
    commands.add_parser("status", help="count jobs by queue and state")
    for name in ("cancel", "revive"):
        commands.add_parser(name).add_argument("job", type=int)
    commands.add_parser("prune").add_argument("--days", type=float, default=30.0)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        app = build_app(options.config)
        logging.basicConfig(level=app.settings.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
        import_tasks(getattr(options, "modules", []))
        return _COMMANDS[options.command](app, options)
    except TaskmillError as error:
        print(f"taskmill: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

"""The command line: `run`, `plan`, `report`, `clear`, `units`."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tallyflow import __version__
from tallyflow.checkpoints import CheckpointStore
from tallyflow.config import Config, load
from tallyflow.errors import ConfigError, TallyflowError
from tallyflow.graph import Graph
from tallyflow.model import Sample
from tallyflow.report import render
from tallyflow.timegrid import INTERVALS, Grid
from tallyflow.units import UNITS

log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.command == "units":
        return _units()
    try:
        config = load(options.pipeline)
        _start_logging("DEBUG" if options.verbose else config.log_level)
        return _COMMANDS[options.command](config, options)
    except TallyflowError as error:
        if options.traceback:
            raise
        print(f"tallyflow: {error}", file=sys.stderr)
        return error.exit_code


def _run(config: Config, options: argparse.Namespace) -> int:
    tables = Graph(config).run(CheckpointStore(config.checkpoints))
    for name, table in tables.items():
        log.info("%s: %d names, %d rows", name, len(table), sum(map(len, table.values())))
    return 0


def _plan(config: Config, options: argparse.Namespace) -> int:
    for planned in Graph(config).plan(CheckpointStore(config.checkpoints)):
        print(f"{planned.name:<20} {planned.fingerprint[:12]}  {'stored' if planned.stored else 'to do'}")
    return 0


def _report(config: Config, options: argparse.Namespace) -> int:
    tables = Graph(config).run(CheckpointStore(config.checkpoints))
    table = tables.get(options.step)
    if table is None:
        raise ConfigError(f"there is no step {options.step!r}")
    samples = {name: [row for row in rows if isinstance(row, Sample)] for name, rows in table.items()}
    interval = options.interval or str(config.steps[options.step].options.get("interval", "quarter"))
    print(render(samples, Grid(interval, config.tz), options.places, options.last))
    return 0


def _clear(config: Config, options: argparse.Namespace) -> int:
    print(f"{CheckpointStore(config.checkpoints).clear()} checkpoints removed")
    return 0


def _units() -> int:
    for unit in sorted(UNITS, key=lambda unit: (unit.dimension, unit.factor)):
        print(f"{unit.dimension:<12} {unit.name}")
    return 0


_COMMANDS: dict[str, Callable[[Config, argparse.Namespace], int]] = {
    "run": _run,
    "plan": _plan,
    "report": _report,
    "clear": _clear,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tallyflow", description="Meter readings to intervals, totals and reports.")
    parser.add_argument("--version", action="version", version=f"tallyflow {__version__}")
    parser.add_argument("--verbose", action="store_true", help="log everything")
    parser.add_argument("--traceback", action="store_true", help="show where an error came from")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("units", help="list all units")
    for name, about in (
        ("run", "run all steps that are not up to date"),
        ("plan", "show which steps would run"),
        ("clear", "remove all checkpoints"),
        ("report", "run, and print the table of one step"),
    ):
        command = commands.add_parser(name, help=about)
        command.add_argument("pipeline", type=Path)
        if name == "report":
            command.add_argument("step")
            command.add_argument("--interval", choices=INTERVALS, help="how slots are written")
            command.add_argument("--places", type=int, default=1)
            command.add_argument("--last", type=int, default=None)
    return parser


def _start_logging(level: str) -> None:
    if level not in logging.getLevelNamesMapping():
        raise ConfigError(f"log_level {level!r} is not known")
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr, force=True)


if __name__ == "__main__":
    sys.exit(main())

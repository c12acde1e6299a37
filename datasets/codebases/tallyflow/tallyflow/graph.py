"""The steps as a graph: in which order they run, and whether the result of an earlier run still holds."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from graphlib import CycleError, TopologicalSorter

from tallyflow import __version__
from tallyflow.checkpoints import CheckpointStore
from tallyflow.config import Config, StepConfig
from tallyflow.errors import CheckpointError, ConfigError, StepError, TallyflowError
from tallyflow.model import Table
from tallyflow.steps import KINDS, StepKind

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Planned:
    """One step of a plan: what identifies its result, and whether that is stored already."""

    name: str
    fingerprint: str
    stored: bool


class Fingerprints:
    """What a step's result depends on, as one digest: its options, its inputs, the meters, the source files."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._known: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The fingerprint of a step. Raises SourceError when its source is gone."""
        if name not in self._known:
            self._known[name] = self._compute(self._config.steps[name])
        return self._known[name]

    def _compute(self, step: StepConfig) -> str:
        source = self._config.sources.get(step.options.get("source", ""))
        parts = {
            "version": __version__,
            "kind": step.kind,
            "options": dict(step.options),
            "inputs": [self.of(name) for name in step.inputs],
            "timezone": self._config.tz.key,
            "meters": {name: asdict(meter) for name, meter in self._config.meters.items()},
            "source": [repr(source), source.digest(self._config.base)] if source else None,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Graph:
    """All steps of a pipeline, checked, in the order they run."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.order = _order(config.steps)
        self._options = {name: _checked(config, config.steps[name]) for name in self.order}

    def plan(self, store: CheckpointStore) -> list[Planned]:
        """What a run would do now."""
        prints = Fingerprints(self._config)
        return [Planned(name, prints.of(name), store.has(name, prints.of(name))) for name in self.order]

    def run(self, store: CheckpointStore) -> dict[str, Table]:
        """Every step's table; stored ones are taken from `store`, others are computed and put there.

        Raises StepError with the failed step's name.
        """
        tables: dict[str, Table] = {}
        for planned in self.plan(store):
            table = _stored(store, planned)
            if table is None:
                table = self._computed(planned.name, tables)
                store.put(planned.name, planned.fingerprint, table)
            tables[planned.name] = table
        return tables

    def _computed(self, name: str, tables: Mapping[str, Table]) -> Table:
        step = self._config.steps[name]
        log.info("step %s (%s) starts", name, step.kind)
        inputs = [tables[each] for each in step.inputs]
        try:
            table = KINDS[step.kind].run(self._config, inputs, self._options[name])
        except TallyflowError as error:
            raise StepError(name, str(error)) from error
        log.info("step %s done: %d rows, %d names", name, sum(map(len, table.values())), len(table))
        return table


def _stored(store: CheckpointStore, planned: Planned) -> Table | None:
    if not planned.stored:
        return None
    try:
        table = store.get(planned.name, planned.fingerprint)
    except CheckpointError as error:
        log.warning("step %s: %s; it is computed again", planned.name, error)
        return None
    log.info("step %s taken from its checkpoint", planned.name)
    return table


def _order(steps: Mapping[str, StepConfig]) -> list[str]:
    for step in steps.values():
        for name in step.inputs:
            if name not in steps:
                raise ConfigError(f"[steps.{step.name}]: there is no step {name!r}")
    try:
        return list(TopologicalSorter({name: step.inputs for name, step in steps.items()}).static_order())
    except CycleError as error:
        raise ConfigError(f"steps go in a circle: {' -> '.join(error.args[1])}") from error


def _checked(config: Config, step: StepConfig) -> dict[str, object]:
    where = f"[steps.{step.name}]"
    kind: StepKind | None = KINDS.get(step.kind)
    if kind is None:
        raise ConfigError(f"{where}: kind is one of {', '.join(KINDS)}")
    least, most = kind.takes
    if not least <= len(step.inputs) <= most:
        raise ConfigError(f"{where}: {step.kind} takes {least} to {most} inputs, not {len(step.inputs)}")
    return kind.complete(step.options, where)

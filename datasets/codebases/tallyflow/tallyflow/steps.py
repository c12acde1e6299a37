"""The kinds of step a pipeline is built from. A kind is a function and a description of its options."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tallyflow import aggregate, anomalies, gaps, registers, resample
from tallyflow.config import Config
from tallyflow.errors import ConfigError
from tallyflow.meters import Meter
from tallyflow.model import Flow, Reading, Sample, Table
from tallyflow.timegrid import INTERVALS, Grid

Options: TypeAlias = Mapping[str, Any]
Run: TypeAlias = Callable[[Config, Sequence[Table], Options], Table]


@dataclass(frozen=True)
class StepKind:
    """`takes` is how many inputs are allowed, `options` the default of each option; None means it must be given."""

    run: Run
    takes: tuple[int, int] = (1, 1)
    options: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, given: Options, where: str) -> dict[str, Any]:
        """The options with defaults filled in. Raises ConfigError."""
        for name in given:
            if name not in self.options:
                raise ConfigError(f"{where}: option {name!r} is not known here")
        options = {**self.options, **given}
        for name, value in options.items():
            if value is None:
                raise ConfigError(f"{where}: option {name!r} is missing")
        return options


def _read(config: Config, inputs: Sequence[Table], options: Options) -> Table:
    source = config.sources.get(options["source"])
    if source is None:
        raise ConfigError(f"source {options['source']!r} is not in the pipeline file")
    return source.readings(config.base, config.tz)


def _difference(config: Config, inputs: Sequence[Table], options: Options) -> Table:
    return {
        meter.name: registers.flows(meter, rows)
        for meter, rows in _by_meter(config, inputs[0], Reading)
        if meter.kind != "level"
    }


def _resample(config: Config, inputs: Sequence[Table], options: Options) -> Table:
    grid = _grid(config, options)
    return {meter.name: resample.spread(rows, grid) for meter, rows in _by_meter(config, inputs[0], Flow)}


def _average(config: Config, inputs: Sequence[Table], options: Options) -> Table:
    grid = _grid(config, options)
    levels = [pair for pair in _by_meter(config, inputs[0], Reading) if pair[0].kind == "level"]
    return {meter.name: resample.average(meter, rows, grid) for meter, rows in levels}


def _fill(config: Config, inputs: Sequence[Table], options: Options) -> Table:
    if options["method"] not in gaps.METHODS:
        raise ConfigError(f"method is one of {', '.join(gaps.METHODS)}")
    samples = _samples(inputs[0])
    return {name: gaps.fill(name, rows, options["method"], options["max_gap"]) for name, rows in samples.items()}


def _flag(config: Config, inputs: Sequence[Table], options: Options) -> Table:
    rule = anomalies.Rule(**options)
    return {name: anomalies.flag(name, rows, rule) for name, rows in _samples(inputs[0]).items()}


def _total(config: Config, inputs: Sequence[Table], options: Options) -> Table:
    grid = _grid(config, options)
    table = {name: aggregate.coarser(rows, grid) for name, rows in _samples(inputs[0]).items()}
    return aggregate.by_site(table, config.meters) if options["by"] == "site" else table


def _minus(config: Config, inputs: Sequence[Table], options: Options) -> Table:
    return aggregate.minus(_samples(inputs[0]), _samples(inputs[1]))


def _merge(config: Config, inputs: Sequence[Table], options: Options) -> Table:
    return aggregate.merged([_samples(table) for table in inputs])


def _plugin(config: Config, inputs: Sequence[Table], options: Options) -> Table:
    """A function of one's own, `use = "module:function"`: it takes the samples and the options, and gives samples."""
    module, _, name = options["use"].partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"plugin {options['use']!r} cannot be loaded: {error}") from error
    return _samples(function(_samples(inputs[0]), dict(options["with"])))


KINDS: dict[str, StepKind] = {
    "read": StepKind(_read, (0, 0), {"source": None}),
    "difference": StepKind(_difference),
    "resample": StepKind(_resample, options={"interval": None}),
    "average": StepKind(_average, options={"interval": None}),
    "fill": StepKind(_fill, options={"method": "linear", "max_gap": 4}),
    "flag": StepKind(_flag, options={"window": 96, "threshold": 4.0, "warm_up": 24, "tolerance": 0.0}),
    "total": StepKind(_total, options={"interval": None, "by": "meter"}),
    "minus": StepKind(_minus, (2, 2)),
    "merge": StepKind(_merge, (2, 8)),
    "plugin": StepKind(_plugin, options={"use": None, "with": {}}),
}


def _grid(config: Config, options: Options) -> Grid:
    if options["interval"] not in INTERVALS:
        raise ConfigError(f"interval is one of {', '.join(INTERVALS)}")
    return Grid(options["interval"], config.tz)


def _by_meter(config: Config, table: Table, kind: type) -> list[tuple[Meter, Any]]:
    for name in table:
        if name not in config.meters:
            raise ConfigError(f"meter {name!r} is in the data, but not in the pipeline file")
    return [(config.meters[name], rows) for name, rows in _rows(table, kind).items()]


def _samples(table: Table) -> Mapping[str, Sequence[Sample]]:
    return _rows(table, Sample)


def _rows(table: Table, kind: type) -> Mapping[str, Any]:
    """The table itself, if it holds rows of one kind. Raises ConfigError: the steps are in a wrong order."""
    for rows in table.values():
        if rows and not isinstance(rows[0], kind):
            raise ConfigError(f"{kind.__name__.lower()}s are needed here, not {type(rows[0]).__name__.lower()}s")
    return table

"""Table of metrics of a variant: those of the pack and the ready-made ones, in the order of the report."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from evals.comparison.variant_metrics import Measuring, VariantTrials, micro_average, pair_metrics
from evals.models.metrics import Calibration
from evals.models.run import trial_metrics
from evals.pack import load_pack
from evals.scoring.registry import scorer_infos

if TYPE_CHECKING:
    from evals.pack import Pack

READY_MADE: Final[tuple[Measuring, ...]] = (micro_average,)


@cache
def measures(pack: "Pack | None" = None) -> tuple[Measuring, ...]:
    """The metrics of a variant of a pack (of the default one if none is given): those that its modules list as
    `METRICS`, the ready-made ones that they do not list, and how often metamorphic pairs agree on each metric of a
    trial."""
    pack = pack or load_pack()
    listed = tuple(metric for name in pack.variant_metrics for metric in import_module(name).METRICS)
    ready = (metric for metric in READY_MADE if metric not in listed)
    return (*listed, *ready, *pair_metrics(trial_metrics(scorer_infos(pack))))


def calibrations(evidence: VariantTrials, pack: "Pack | None" = None) -> tuple[Calibration, ...]:
    """Stated confidence of a variant's trials against what they came to; empty where the pack reads none."""
    modules = [import_module(name) for name in (pack or load_pack()).variant_metrics]
    return tuple(found for each in modules if hasattr(each, "calibrations") for found in each.calibrations(evidence))

"""Guard sets by name: `none`, `prd`, `hardened`, and `hardened-without-<guard>` for ablations."""

from dataclasses import replace
from typing import Final

from triage.errors import ConfigurationError
from triage.guards.guard import Guard, GuardSet
from triage.guards.hardened import HARDENED, confidence_floor, report_before_end
from triage.guards.prd import PRD
from triage.state import ConfidenceFloor

SETS: Final[dict[str, GuardSet]] = {
    "none": GuardSet("none", (), drops_overruled_question=False, writer_ends=False),
    "prd": GuardSet("prd", PRD, drops_overruled_question=False, writer_ends=False),
    "hardened": GuardSet("hardened", HARDENED),
    **{
        f"hardened-without-{left_out.__name__}": GuardSet(
            f"hardened-without-{left_out.__name__}",
            tuple(guard for guard in HARDENED if guard is not left_out),
        )
        for left_out in HARDENED
    },
}


def guard_set(name: str, floor: ConfidenceFloor | None = None) -> GuardSet:
    """The set called `name`, with the thresholds of `floor` enforced as well if one is given.

    Raises:
        ConfigurationError: no set of that name.
    """
    if name not in SETS:
        raise ConfigurationError(f"no guard set is called {name!r}; choose one of {', '.join(SETS)}")
    chosen = SETS[name]
    return chosen if floor is None else replace(chosen, guards=_with_floor(chosen.guards, confidence_floor(floor)))


def _with_floor(guards: tuple[Guard, ...], floor: Guard) -> tuple[Guard, ...]:
    """The floor stands before `report_before_end`, or `end` would slip under it."""
    return (*(g for g in guards if g is not report_before_end), floor, *(g for g in guards if g is report_before_end))

"""Guard sets by name: `none`, `prd`, `hardened`, and `hardened-without-<guard>` for ablations."""

from dataclasses import replace
from typing import Final

from triage.errors import ConfigurationError
from triage.guards.guard import Guard, GuardSet
from triage.guards.hardened import HARDENED, confidence_floor, report_before_end
from triage.guards.prd import PRD
from triage.guards.registry import REGISTRY_GUARDS
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


OWN: Final[dict[str, tuple[Guard, ...]]] = {"registry": REGISTRY_GUARDS}
"""Guards that belong to one supervisor. They come with every set but `none`, and speak last."""


def guard_set(name: str, floor: ConfidenceFloor | None = None, supervisor: str = "llm") -> GuardSet:
    """The set called `name` as it is for `supervisor`, with the thresholds of `floor` enforced as well if one is given.

    Raises:
        ConfigurationError: no set of that name.
    """
    if name not in SETS:
        raise ConfigurationError(f"no guard set is called {name!r}; choose one of {', '.join(SETS)}")
    chosen = SETS[name]
    if name != "none":
        chosen = replace(chosen, guards=(*chosen.guards, *OWN.get(supervisor, ())))
    return chosen if floor is None else replace(chosen, guards=_with_floor(chosen.guards, confidence_floor(floor)))


def _with_floor(guards: tuple[Guard, ...], floor: Guard) -> tuple[Guard, ...]:
    """The floor stands before the set's own `report_before_end`, or `end` would slip under it."""
    last = tuple(guard for guard in guards if guard.__name__ == report_before_end.__name__)
    return (*(guard for guard in guards if guard not in last), floor, *last)

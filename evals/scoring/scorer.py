"""The `scorer` decorator and how a scorer's answer becomes an outcome: scored, skipped or failed."""

import inspect
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from evals.models.case import Case
from evals.models.metrics import LARGEST, Failed, Outcome, Scored, Skipped
from evals.models.trace import Trace
from evals.paths import PACKAGE
from evals.project import FILE

Unit = Literal["fraction", "count", "tokens", "seconds", "USD"]
Direction = Literal["higher", "lower"]
UNSTATED: Final = "the case has no label "
"""How the reason begins where a score is skipped because the case has no such label."""

NOT_OWN: Final = (PACKAGE, *(Path(sysconfig.get_path(each)) for each in ("stdlib", "purelib", "platlib")))
ScoringFunction = Callable[[Case, Trace], float]


class NotApplicable(Exception):  # noqa: N818  no error: it is how a scorer says that a case is none of its business
    """The score makes no sense here; the message says why, as the report will show it."""


@dataclass(frozen=True)
class Scorer:
    """A named score with its unit, its better direction and its definition; `primary` ones decide the verdict.

    An `open_loop` one reads frozen states only, so it stands whether or not the trial's own route is on the tape; a
    `macro` one is averaged over all cases by the gold nodes of those states, so that each node counts alike. `label` is
    the field of the labels that it reads: where a case has no such label, it is skipped. A `safety` one is
    never to be 0: the gate names each case in which it newly is.
    """

    name: str
    unit: Unit
    better: Direction
    definition: str
    function: ScoringFunction
    primary: bool = False
    open_loop: bool = False
    macro: bool = False
    label: str = ""
    safety: bool = False

    @cached_property
    def is_pass_or_fail(self) -> bool:
        """Whether it gives only 0 and 1: its function is annotated `-> bool`."""
        return inspect.get_annotations(self.function).get("return") in (bool, "bool")


def scorer(
    name: str,
    *,
    unit: Unit = "fraction",
    better: Direction = "higher",
    primary: bool = False,
    open_loop: bool = False,
    macro: bool = False,
    label: str = "",
    safety: bool = False,
) -> Callable[[ScoringFunction], Scorer]:
    """Make a function of (case, trace) a scorer; its docstring, on one line, is the definition."""

    def made(function: ScoringFunction) -> Scorer:
        definition = " ".join((inspect.getdoc(function) or "").split())
        if not definition:
            raise ValueError(f"scorer {name!r} has no docstring: write its definition there")
        return Scorer(name, unit, better, definition, function, primary, open_loop, macro, label, safety)

    return made


def score(subject: Scorer, case: Case, trace: Trace) -> Outcome:
    """Apply one scorer, to exact traces only (save open-loop ones): off the tape nothing is made up, and a broken trial
    has failed."""
    if trace.provenance.label == "failed":
        return Failed(error=trace.error or "the trial failed without saying why")
    if trace.provenance.label != "exact" and not subject.open_loop:
        return Skipped(reason=f"not fully recorded: {trace.provenance}")
    if subject.label and subject.label in case.known.unlabelled:
        return Skipped(reason=f"{UNSTATED}{subject.label}")
    try:
        value = float(subject.function(case, trace))
        low, high = (0.0, 1.0) if subject.unit == "fraction" else (-LARGEST, LARGEST)
        allowed = value in (0, 1) if subject.is_pass_or_fail else low <= value <= high
        said = "neither 0 nor 1, as `-> bool` says" if subject.is_pass_or_fail else f"not from {low:g} to {high:g}"
        return Scored(value=value) if allowed else Failed(error=f"{subject.name}: {value:g} is {said}")
    except NotApplicable as reason:
        return Skipped(reason=str(reason))
    except (Exception, SystemExit) as error:  # noqa: BLE001  a broken scorer is an outcome the gate must see, whatever broke
        return Failed(error=f"{subject.name}: {place_of(error)}: {type(error).__name__}: {error}")


def place_of(error: BaseException) -> str:
    """`FILE:LINE` where it was raised, outside of this package, of Python and of installed packages if possible; the
    settings where a module that they name is missing."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno}"
    here = Path.cwd()
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    own = [each for each in frames if each[0].is_absolute() and not any(map(each[0].is_relative_to, NOT_OWN))]
    if not own and isinstance(error, ModuleNotFoundError):
        return FILE  # it names the module
    path, line = (own or frames)[-1]
    return f"{path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name}:{line}"

"""Forced choices: another choice in the place of a router's, what became of the trial, and the decisive step."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evals.models.base import Closed
from evals.models.case import Choice, RouteNode
from evals.shared.display_text import counted

if TYPE_CHECKING:
    from evals.models.run import Trial

Label = Literal["decision point", "exemplar", "constraints"]
Result = Literal["passes", "fails", "not recorded", "cannot be forced", "cannot be judged"]


class ForcedChoice(Closed):
    """A failed trial, run again with `choice` forced in place of `made` at one decision, counted from 0. `label` names
    what asks for the choice; `why` says why it cannot be forced or judged, or with which error it fails."""

    decision: Annotated[int, Field(ge=0)]
    made: Choice
    choice: Choice
    label: Label
    result: Result = "not recorded"
    route: tuple[RouteNode, ...] = ()
    why: str = ""


class DecisiveStep(Closed):
    """At which decision a trial went wrong: the choices that were forced, one at a time, earliest decision first."""

    tried: tuple[ForcedChoice, ...]

    @property
    def found(self) -> ForcedChoice | None:
        """The earliest forced choice after which the trial passes."""
        return next((each for each in self.tried if each.result == "passes"), None)

    @property
    def unknown(self) -> tuple[int, ...]:
        """Decisions before that one (all, if there is none) at which a forced choice leads to what is not recorded."""
        before = self.found.decision if self.found else max((each.decision + 1 for each in self.tried), default=0)
        unknown = (each.decision for each in self.tried if each.result == "not recorded" and each.decision < before)
        return tuple(dict.fromkeys(unknown))

    @property
    def text(self) -> str:
        """The result in one or two sentences."""
        said = []
        if found := self.found:
            where = f"The trial went wrong at decision {found.decision + 1}"
            said += [f"{where}: with {found.choice} instead of {found.made} it passes."]
        if self.unknown:
            places = ", ".join(str(number + 1) for number in self.unknown)
            said += [f"Not recorded: what follows a forced choice at decision {places}."]
            said += ["Record it: `evals record SUITE --forced`."]
        results = Counter(each.result for each in self.tried)
        if not said and results["fails"]:
            none = "" if results["cannot be judged"] else ": no single decision is decisive"
            said += [f"It fails with {counted(results['fails'], 'forced choice')}, too{none}."]
        for each in self.tried if not (found or self.unknown) else ():
            said += [f"At decision {each.decision + 1} {each.choice} {each.result}: {each.why}."] if each.why else []
        return " ".join(said) or "The labels ask for no other choice that can be forced."


def decisive_lines(trials: Iterable["Trial"]) -> tuple[str, ...]:
    """Over all failed trials, a line per variant: which decision is decisive in how many of them."""
    by_variant: dict[str, list[DecisiveStep]] = {}
    for trial in trials:
        if trial.decisive is not None:
            by_variant.setdefault(trial.trace.variant, []).append(trial.decisive)
    return tuple(f"{variant}: {_counts(steps)}" for variant, steps in by_variant.items())


def _counts(steps: Sequence[DecisiveStep]) -> str:
    decided = sorted(step.found.decision + 1 for step in steps if step.found)
    counts = Counter(f"decision {place} is decisive" for place in decided)
    for step in (step for step in steps if not step.found):
        results = {each.result for each in step.tried}
        unsettled = "cannot be forced" if results == {"cannot be forced"} else "no single decision"
        if "cannot be judged" in results:
            unsettled = "cannot be judged"
        counts["not recorded" if step.unknown else unsettled if results else "no labelled choice"] += 1
    return f"{counted(len(steps), 'failed trial')}: {', '.join(f'{what} in {n}' for what, n in counts.items())}"

"""What is said of the choices that were forced in a failed trial, and over all failed trials."""

import pytest

from evals.models.forced_decision import DecisiveStep, ForcedChoice, decisive_lines
from tests.builders.run import a_trial
from tests.builders.trace import a_trace


def a_try(decision: int, result: str, choice: str = "critic", **fields: str) -> ForcedChoice:
    told = {"decision": decision, "made": "writer", "choice": choice, "label": "exemplar", "result": result}
    return ForcedChoice.model_validate({**told, **fields})


GUARDED = a_try(1, "cannot be forced", why="guard critic_gate sends it to investigator")
UNJUDGED = a_try(1, "cannot be judged", why="route.pass has no value")
CRASHES = a_try(0, "fails", why="KeyError: 'order'")
PASSES = "The trial went wrong at decision 3: with critic instead of writer it passes."
RECORD = "Record it: `evals record SUITE --forced`."
STEPS = {
    PASSES: (a_try(1, "fails"), a_try(2, "passes")),
    f"{PASSES} Not recorded: what follows a forced choice at decision 2. {RECORD}": (
        a_try(1, "not recorded"),
        a_try(2, "passes"),
        a_try(3, "not recorded"),
    ),
    f"Not recorded: what follows a forced choice at decision 1, 2. {RECORD}": (
        a_try(0, "not recorded"),
        a_try(1, "not recorded"),
        a_try(1, "not recorded", "end"),
    ),
    "It fails with 2 forced choices, too: no single decision is decisive.": (a_try(1, "fails"), a_try(2, "fails")),
    "At decision 2 critic cannot be forced: guard critic_gate sends it to investigator.": (GUARDED,),
    "It fails with 1 forced choice, too: no single decision is decisive. At decision 2 critic cannot be forced: guard "
    "critic_gate sends it to investigator.": (a_try(0, "fails"), GUARDED),
    "It fails with 1 forced choice, too. At decision 1 critic fails: KeyError: 'order'. At decision 2 critic cannot be "
    "judged: route.pass has no value.": (CRASHES, UNJUDGED),
    "The labels ask for no other choice that can be forced.": (),
}


@pytest.mark.parametrize("text", STEPS)
def test_the_earliest_passing_choice_decides_and_what_is_unknown_or_refused_is_said(text: str) -> None:
    assert DecisiveStep(tried=STEPS[text]).text == text


def test_failed_trials_are_counted_by_the_decision_that_decides() -> None:
    steps = [*STEPS.values(), (a_try(9, "passes"),)]
    trials = [a_trial(a_trace(variant="v5"), decisive=DecisiveStep(tried=tried)) for tried in steps]

    (line,) = decisive_lines([*trials, a_trial()])
    assert line == (
        "v5: 9 failed trials: decision 3 is decisive in 2, decision 10 is decisive in 1, not recorded in 1, no "
        "single decision in 2, cannot be forced in 1, cannot be judged in 1, no labelled choice in 1"
    )

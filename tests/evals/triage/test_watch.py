"""What a trace says of its calls must not depend on which of several answers came first."""

from evals.cassettes.calls_and_misses import Ledger, MissRecord, calls_of
from evals.cassettes.player import Tape
from evals.models.suite import Models, Variant
from evals.triage.graph_trial import Watcher
from tests.builders.case import a_case
from tests.builders.interaction import a_cassette, an_interaction
from triage.prompts.load import load_supervisor_prompt

ONE, TWO = (an_interaction(words, agent="writer") for words in ("report", "comment"))
BEFORE, AFTER = (an_interaction(words, agent="supervisor") for words in ("first", "last"))


def test_calls_made_side_by_side_have_one_order():
    calls = [calls_of(Ledger([BEFORE, *pair, AFTER])) for pair in ((ONE, TWO), (TWO, ONE))]

    assert calls[0] == calls[1]


def a_watcher(sample: int = 0) -> Watcher:
    variant = Variant(name="v1", prompt="v1", models=Models(default="a-model", fallback="a-model"))
    tape = Tape(a_cassette(), Ledger(), sample, sample + 1)
    return Watcher(variant, load_supervisor_prompt("v1"), a_case(), tape, ())


def test_the_visit_that_met_a_miss_is_not_part_of_the_trace():
    """The agent turned the miss into an error of its own; that is no behaviour of the graph."""
    watcher = a_watcher()
    watcher.ledger.misses.append(MissRecord("k", 0, "critic", "POST", "/v1/chat/completions", "a-model", b"{}"))

    watcher.see("updates", {"critic": {"visits": ["critic"]}})

    assert watcher.trace(Ledger(), (), Ledger()).visits == ()

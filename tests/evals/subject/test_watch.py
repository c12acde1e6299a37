"""What a trace says of its calls must not depend on which of several answers came first."""

from evals.cassette.ledger import Ledger
from evals.subject.watch import _calls
from tests.builders.interaction import an_interaction

ONE, TWO = (an_interaction(words, agent="writer") for words in ("report", "comment"))
BEFORE, AFTER = (an_interaction(words, agent="supervisor") for words in ("first", "last"))


def test_calls_made_side_by_side_have_one_order():
    calls = [_calls(Ledger([BEFORE, *pair, AFTER])) for pair in ((ONE, TWO), (TWO, ONE))]

    assert calls[0] == calls[1]


def test_calls_of_different_agents_keep_their_order():
    assert [call.key for call in _calls(Ledger([BEFORE, ONE, AFTER]))] == [BEFORE.key, ONE.key, AFTER.key]

"""A budget is never overrun, and a price nobody knows is never nothing."""

from datetime import date

import pytest

from evals.cassettes.cassette_schema import Usage
from evals.errors import ConfigurationError, RecordingStoppedError
from evals.models.suite import Models
from evals.prices import ModelPrice, PriceTable
from evals.recording.recording_cost import LONGEST_ANSWER, Meter, priced
from tests.builders.interaction import an_asked

TABLE = PriceTable(
    as_of=date(2026, 1, 1), models={"small": ModelPrice(usd_per_million_input=0, usd_per_million_output=1000)}
)
"""An output token is a tenth of a cent, so that sums are plain."""


def a_meter(**limits) -> Meter:
    return Meter(TABLE, **limits)


def test_an_answer_costs_what_its_tokens_cost():
    meter = a_meter()
    meter.admit(an_asked())
    meter.settle(an_asked(), Usage(prompt_tokens=50, completion_tokens=20))

    assert (meter.spent_usd, meter.reserved_usd, str(meter)) == (0.02, 0.0, "70 tokens, 0.0200 USD")


def test_the_request_that_could_overrun_the_budget_is_not_made():
    """Two of at most 300 tokens fit into 0.75 dollars, the third would not."""
    meter = a_meter(budget_usd=0.75)
    for _ in range(2):
        meter.admit(an_asked(max_tokens=300))
        meter.settle(an_asked(max_tokens=300), Usage(completion_tokens=300))

    with pytest.raises(
        RecordingStoppedError, match=r"budget of 0\.7500 USD .* 0\.6000 USD spent, up to 0\.3000 USD needed"
    ):
        meter.admit(an_asked(max_tokens=300))


def test_what_is_under_way_counts_against_the_budget():
    meter = a_meter(budget_usd=0.75)
    for _ in range(2):
        meter.admit(an_asked(max_tokens=300))

    with pytest.raises(RecordingStoppedError, match=r"0\.6000 USD under way"):
        meter.admit(an_asked(max_tokens=300))


def test_a_request_that_came_to_nothing_frees_what_was_reserved_for_it():
    meter = a_meter(budget_usd=0.4)
    meter.admit(an_asked(max_tokens=300))
    meter.settle(an_asked(max_tokens=300), None)

    meter.admit(an_asked(max_tokens=300))
    assert meter.spent_usd == 0


def test_an_answer_without_a_limit_is_assumed_to_be_long():
    assert a_meter().estimate(an_asked()) == LONGEST_ANSWER / 1000


def test_a_server_that_does_not_count_is_taken_at_the_estimate():
    meter = a_meter()
    meter.settle(an_asked(max_tokens=300), Usage())

    assert meter.spent_usd == 0.3


def test_a_model_without_a_price_costs_an_unknown_sum():
    meter = a_meter()
    meter.settle(an_asked(model="new"), Usage(prompt_tokens=5, completion_tokens=5))

    assert str(meter) == "10 tokens, price unknown (new)"


def test_a_budget_needs_a_price_for_every_model_that_may_be_asked():
    models = Models(default="small", fallback="spare", agents={"critic": "big"})

    with pytest.raises(ConfigurationError, match=r"no price is known for spare, big; .*--prices FILE"):
        priced([models], TABLE)


def test_a_suite_of_a_target_that_names_no_fallback_has_a_budget():
    priced([Models(default="small"), Models()], TABLE)


def test_a_request_to_a_model_without_a_price_is_not_made_under_a_budget():
    """A target asks whatever model it likes."""
    meter = a_meter(budget_usd=0.4)

    with pytest.raises(RecordingStoppedError, match="no price is known for new; name it in a table"):
        meter.admit(an_asked(model="new"))


def test_no_more_requests_than_allowed_are_made():
    meter = a_meter(max_requests=1)
    meter.admit(an_asked())

    with pytest.raises(RecordingStoppedError, match="--max-requests 1 is reached; run it again to go on"):
        meter.admit(an_asked())

"""From compared fields to a verdict: drifted, representative, or how much more it takes."""

import dataclasses

import numpy as np
import pytest

from evals.analysis.drift_comparison import ComparedRequest, compared, enough_for, judged, noise_of, turned
from evals.analysis.drift_session import drawn
from evals.models.analysis_results import FieldDrift, Passage, Range
from tests.builders.drifting import World


def asked_at(request, step):
    """The request, asked once: at this step of `v1`."""
    return dataclasses.replace(request, uses=(Passage(case=request.case, variant="v1", step=step),))


def a_sitting(world, *, size=60, precision=0.15, seed=1):
    """(fields, what would be enough, verdict) of one simulated sitting."""
    requests = world.requests()
    asked = world.asked(requests, drawn(requests, size, seed), np.random.default_rng(seed))
    fields = compared(asked, 0.05, seed)
    enough = enough_for(fields[0], noise_of(asked), requests, precision, seed)
    return fields, enough, judged(fields, enough, precision)


def test_an_unchanged_model_is_representative_and_exits_with_0():
    _, _, verdict = a_sitting(World(noise=0.0))

    assert (verdict.status, verdict.exit_code) == ("representative", 0)
    assert "decisions differ from the tape by less than 8 points more than repeats do" in verdict.sentence


def test_a_changed_model_is_drifted_and_exits_with_1():
    fields, _, verdict = a_sitting(World(change=0.3), seed=2)

    assert (verdict.status, verdict.exit_code) == ("drifted", 1)
    assert [field.field for field in fields if field.moved] == ["decision"]
    assert verdict.reasons[0].startswith("supervisor decision: ")
    assert 0 < fields[0].change.low < 0.3 < fields[0].change.high


def test_a_small_sample_cannot_tell_and_says_how_many_would():
    _, enough, verdict = a_sitting(World(), size=15)

    assert (verdict.status, verdict.exit_code) == ("cannot tell", 3)
    assert verdict.reasons == (
        f"{enough.decisions} decisions would do: the same command with --sample {enough.sample} --extend",
    )


def test_the_sample_it_asks_for_holds_the_decisions_it_asks_for_and_no_more():
    _, enough, _ = a_sitting(World(), size=15)
    requests = World().requests()

    def decisions(size):
        return sum("decision" in request.fields for request in drawn(requests, size, 1))

    assert decisions(enough.sample) >= enough.decisions > decisions(enough.sample - 1)


def test_a_precision_beyond_what_is_recorded_says_so():
    _, enough, verdict = a_sitting(World(noise=0.1), precision=0.02)

    assert enough.sample is None
    assert "fewer are recorded: record more cases, or give a larger --set precision" in verdict.reasons[0]


def test_noise_alone_is_no_drift():
    """Half of the noisy fifth's answers differ, from the tape as from each other."""
    fields, _, verdict = a_sitting(World(noise=0.1), size=200)

    assert fields[0].equal.value < 0.95
    assert verdict.status == "representative"


def test_decisions_have_half_of_alpha_and_all_other_fields_share_the_rest():
    fields, _, _ = a_sitting(World())

    assert [field.primary for field in fields] == [True] + [False] * 6
    assert {field.level for field in fields} == {0.025}
    assert fields[0].p_adjusted == fields[0].p


@pytest.mark.parametrize(("p", "moved"), [(0.025, True), (0.026, False), (None, False)])
def test_a_field_moved_where_its_adjusted_p_is_at_most_its_level(p, moved):
    field = FieldDrift(
        agent="writer", field="files", requests=9, equal=None, noise=None,
        change=Range(value=0.2, low=0.1, high=0.3), p=p, p_adjusted=p, level=0.025, primary=False,
    )  # fmt: skip

    assert field.moved is moved
    assert judged([field], enough_for(None, None, [], 0.15, 0), 0.15).status == ("drifted" if moved else "cannot tell")


def test_a_decision_that_every_fresh_answer_makes_otherwise_has_turned():
    requests = [asked_at(each, 3) for each in World(change=0.3).requests(100)]
    asked = World(change=0.3, noise=0.0).asked(requests, requests, np.random.default_rng(0))

    found = turned(asked)

    assert {each.key for each in found} == {
        one.request.key
        for one in asked
        if "decision" in one.request.fields and World(change=0.3, noise=0.0)._turns(one.request)
    }
    assert {(each.recorded, each.fresh, each.known) for each in found} == {("usual", ("turned", "turned"), False)}
    assert {each.on_the_way[0].step for each in found} == {3}


def test_one_fresh_answer_like_the_recorded_one_is_no_turn():
    request = dataclasses.replace(World().requests(1)[0], uses=(Passage(case="one", variant="v1", step=1),))

    def asked(*fresh):
        return ComparedRequest(request, ({"decision": "critic"},), tuple({"decision": node} for node in fresh), 1.0)

    assert turned([asked("writer", "critic")]) == ()
    assert turned([asked("writer", "end")])[0].fresh == ("writer", "end")


def test_a_frozen_state_is_off_the_way():
    requests = [asked_at(each, 0) for each in World(change=0.3).requests(100)]
    asked = World(change=0.3, noise=0.0).asked(requests, requests, np.random.default_rng(0))

    assert all(not each.on_the_way for each in turned(asked))

"""What recording takes, estimated from what it took."""

import pytest

from evals.cassettes.cassette_schema import Usage
from evals.models.suite import Models
from evals.models.trace import Miss
from evals.recording.recording_cost import Need, experience_of, input_tokens, needs_of, output_tokens, seconds
from tests.builders.interaction import a_cassette, an_interaction
from tests.builders.missed import a_request
from tests.builders.trace import a_call, a_trace, an_answer

MODELS = Models(default="small", fallback="small", agents={"critic": "large"})


def a_tape():
    """Two variants of one case: three supervisor answers each, and one critic's that both share."""
    supervisors = [
        an_interaction(
            agent="supervisor",
            request=a_request(f"Prompt {version}.", f"iteration {n}"),
            usage=Usage(prompt_tokens=100, completion_tokens=20),
            latency_ms=500,
        )
        for version in "ab"
        for n in range(3)
    ]
    return a_cassette(*supervisors, an_interaction(agent="critic", latency_ms=9000))


def the_experience():
    return experience_of([a_tape()], "supervisor")


def a_missing(case_id="one", key="k", agent="supervisor", **fields):
    miss = Miss(key=key, agent=agent, method="POST", path="/x", model="small", decision=0, characters=400)
    return a_trace(case_id=case_id, provenance="unrecorded", misses=(miss,), **fields)


def need(**fields):
    return Need(**{"asker": "supervisor", "model": "small", "known": 1, "characters": 0, "expected": 3.0, **fields})


def test_a_trial_takes_what_recorded_trials_took_and_shares_what_they_shared():
    found = the_experience()

    assert (found.trials, found.per_trial("supervisor"), found.per_trial("critic")) == (2, 3.0, 0.5)


def test_what_a_trial_was_served_is_not_asked_again():
    """One decision and one decision point are on tape."""
    trace = a_missing(calls=(a_call("supervisor"),), points=(an_answer(),))

    [supervisor] = [need for need in needs_of({"v2": MODELS}, [trace], the_experience()) if need.asker == "supervisor"]

    assert (supervisor.known, supervisor.expected) == (1, 1.0)


def test_a_request_two_variants_miss_is_needed_once():
    traces = [a_missing(variant=name) for name in ("v2", "v3")]

    needs = needs_of({"v2": MODELS, "v3": MODELS}, traces, the_experience())

    assert sum(need.known for need in needs) == 1


def test_the_same_request_of_two_cases_is_needed_twice():
    """Each case has a cassette of its own."""
    needs = needs_of({"v2": MODELS}, [a_missing("one"), a_missing("two")], the_experience())

    assert sum(need.known for need in needs) == 2


def test_known_requests_count_by_their_characters_and_further_ones_by_the_mean():
    experience = the_experience()
    length = experience.by_asker["supervisor"].characters / 6

    assert input_tokens(need(characters=2 * length), experience) == pytest.approx(2 * 100 + 2 * 100)
    assert output_tokens(need(), experience) == 3 * 20


def test_time_is_that_of_the_same_agent_on_the_same_model():
    assert seconds(need(), the_experience()) == pytest.approx(1.5)


def test_an_agent_that_never_answered_takes_as_long_as_the_model_does_on_average():
    assert seconds(need(asker="writer", expected=7.0), the_experience()) == pytest.approx(6 * 0.5 + 9)


def test_a_latency_of_0_is_not_known_and_no_time_is_estimated_from_it():
    """Batch rounds store 0."""
    assert seconds(need(), experience_of([a_cassette(an_interaction(agent="supervisor", latency_ms=0))])) is None

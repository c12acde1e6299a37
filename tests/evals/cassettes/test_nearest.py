"""The nearest recorded request: first by prompt, then by words, and quickly."""

import time

import pytest

from evals.cassettes.calls_and_misses import digest, nearest
from tests.builders.interaction import a_cassette, a_chat_request, a_miss, an_interaction, messages

HARDENED = "You lead a team. You name who acts next. Ask the critic once. " * 4
PLAIN = "You lead a team. You name who acts next. " * 4


def recorded(system, words, **more):
    return an_interaction(request=a_chat_request(messages=messages(system, words), **more))


def missed(system, words, **more):
    return a_miss(messages=messages(system, words), **more)


def test_the_nearest_request_is_the_one_that_shares_most_words():
    near, far = an_interaction("the rates are wrong for zone four"), an_interaction("how do I install this package")

    assert nearest(a_miss("the rates are wrong for zone nine"), a_cassette(near, far)).key == near.key


def test_the_nearest_request_tells_where_it_differs_and_in_what():
    cassette = a_cassette(an_interaction("the rates are wrong for zone four of the map"))

    found = nearest(a_miss("the rates are wrong for zone nine of the map", model="large"), cassette).differences

    assert [(place.path, place.recorded, place.asked) for place in found] == [
        (
            "messages[0].content",
            "the rates are wrong for zone four of the map",
            "the rates are wrong for zone nine of the map",
        ),
        ("model", "small", "large"),
    ]


def test_an_equal_prompt_comes_before_a_more_similar_context():
    """The other variant went the same way before: its context is equal, but the prompt is not what changed."""
    context = "the critic has found that the zone is off by one " * 10
    own, other = recorded(HARDENED, "nothing yet"), recorded(PLAIN, context)

    found = nearest(missed(HARDENED, context), a_cassette(own, other))

    assert (found.key, found.prompt_alike, found.prompt_digest) == (own.key, 1.0, digest(HARDENED))


def test_an_edited_prompt_is_compared_in_the_same_context():
    asked = HARDENED.replace("once", "twice")
    same, other = recorded(HARDENED, "iteration two"), recorded(HARDENED, "iteration one")

    found = nearest(missed(asked, "iteration two"), a_cassette(other, same))

    assert (found.key, {place.path for place in found.differences}) == (same.key, {"messages[0].content"})
    assert 0.8 < found.prompt_alike < 1


def test_a_number_spelled_as_a_fraction_is_still_the_same_word():
    """Recorded bodies say `temperature: 0.0`: that zero must not be mistaken for one in the text, nor the reverse."""
    same, other = recorded(HARDENED, "iteration 1 / 10"), recorded(HARDENED, "iteration 0 / 10")

    found = nearest(missed(HARDENED + "Be brief.", "iteration 1 / 10"), a_cassette(same, other))

    assert found.key == same.key


@pytest.mark.parametrize("stranger", [{"agent": "critic"}, {"agent": "writer", "uri": "/search"}])
def test_requests_of_another_agent_or_to_another_address_are_not_near(stranger):
    assert nearest(a_miss(agent="writer"), a_cassette(an_interaction(**stranger))) is None


def test_the_nearest_of_sixty_long_requests_is_found_in_fifty_milliseconds():
    """Processor time, best of three: the machine may be busy. `make bench` measures it on the real cassettes."""
    cassette = a_cassette(*(an_interaction(f"{n} " + f"word{n} and some more text " * 400) for n in range(60)))
    miss = a_miss("77 " + "word7 and some more text " * 400)
    near = next(found for found in cassette.interactions if found.request["messages"][0]["content"].startswith("7 "))
    took = []

    for _ in range(3):
        started = time.process_time()
        assert nearest(miss, cassette).key == near.key
        took.append(time.process_time() - started)

    assert min(took) < 0.05

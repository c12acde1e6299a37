"""A further search: what was read is not shown again, what is open leads it; a first search knows nothing of this."""

import pytest

from tests.builders.repository import an_index
from tests.builders.state import a_finding, a_state
from tests.triage.agents.test_codebase_search import an_answer, search
from triage.agents.codebase_search import CODEBASE_SEARCH, NOTHING_FURTHER, WIDE_CHUNKS, query_of
from triage.state import CriticVerdict, Retrieval, SearchScope

REJECTED = CriticVerdict(
    verdict="REJECTED",
    review="UNCERTAIN",
    gaps=("the body of Cart.add",),
    required_evidence=("the body of Cart.add",),
    confidence=0.4,
    evidence_seen=3,
)


def a_searched_state(*read, details="shop/mail.py::send_receipt", **fields):
    findings = [a_finding(details="Lines are lost."), a_finding("codebase_search", details=details)]
    return a_state(findings=findings, places_read=list(read), **fields)


async def test_places_read_before_are_not_shown_again(tmp_path):
    index = an_index(tmp_path)
    first, output = await search(index, an_answer())
    second, _ = await search(index, an_answer(), places_read=list(output.places)[:2])

    assert all(f"{place}\n```" in first for place in output.places)
    assert not any(f"{place}\n```" in second for place in output.places[:2])


async def test_a_search_with_everything_read_says_that_nothing_else_matches(tmp_path):
    index = an_index(tmp_path)
    prompt, output = await search(index, an_answer(), places_read=[chunk.id for chunk in index.chunks])

    assert NOTHING_FURTHER in prompt
    assert output.retrieval == Retrieval(searched=len(index.chunks), kept=len(index.chunks))


def test_it_is_told_what_was_read_what_was_blamed_and_what_a_review_asks_for():
    given = CODEBASE_SEARCH.read(a_searched_state("shop/mail.py:1-2", critic_feedback=REJECTED))

    assert given.instructions == (
        "Read in an earlier search, and not shown again: shop/mail.py:1-2",
        "Blamed then: shop/mail.py::send_receipt. Keep to that unless what follows says otherwise.",
        "A reviewer asks for: the body of Cart.add",
    )


def test_what_the_rules_say_of_a_review_is_not_said_twice():
    scope = SearchScope(chunks=10, instructions=("A reviewer asks for: the body of Cart.add",))
    given = CODEBASE_SEARCH.read(a_searched_state("a.py:1-2", critic_feedback=REJECTED, search_scope=scope))

    assert [line for line in given.instructions if "reviewer" in line] == ["A reviewer asks for: the body of Cart.add"]


@pytest.mark.parametrize(
    "went_before",
    [
        {"critic_feedback": REJECTED},
        {"web_queries": ["q"], "pages_read": ["https://docs.invalid/0"]},
        {"supervisor_reasoning": "Look at the cart."},
    ],
)
async def test_a_first_search_asks_the_same_whatever_went_before(tmp_path, went_before):
    """Its recording is good for every way a job may have gone."""
    plain, _ = await search(an_index(tmp_path / "one"), an_answer())
    later, _ = await search(an_index(tmp_path / "two"), an_answer(), **went_before)

    assert later == plain


LONG = "def total(prices):\n" + "".join(f"    found += prices['{number:03}'] * rate\n" for number in range(200))
SHOP = {"shop/sums.py": LONG} | {f"shop/part{n}.py": f"def total_{n}(prices):\n    return {n}\n" for n in range(20)}


async def further(index, shown, place, **fields):
    """The places that a search shows after one that was shown `shown` and named `place`."""
    named = a_finding("codebase_search", details=place)
    _, output = await search(index, an_answer(), places_read=shown, findings=[named], **fields)
    return list(output.places)


async def test_a_further_search_first_shows_the_rest_of_the_function_that_was_named(tmp_path):
    index = an_index(tmp_path, SHOP)
    first, *rest = [chunk.id for chunk in index.chunks if chunk.path == "shop/sums.py"]
    places = await further(index, [first], "shop/sums.py::total")

    assert places[:3] == rest[:3]
    assert len(places) == len(set(places)) == WIDE_CHUNKS


async def test_of_a_long_rest_half_a_search_is_shown_the_parts_that_answer_best_in_their_order(tmp_path):
    lines = [f"    found += prices['{number:03}'] * rate\n" for number in range(600)]
    lines[500:580] = [f"    refund_deadline = refund_of(customer, {number})\n" for number in range(80)]
    index = an_index(tmp_path, {**SHOP, "shop/sums.py": "def total(prices):\n" + "".join(lines)})
    first, *rest = [chunk.id for chunk in index.chunks if chunk.path == "shop/sums.py"]
    asked = [chunk.id for chunk in index.chunks if chunk.text.count("refund_deadline") > 30]
    open_question = REJECTED.model_copy(update={"gaps": ("which customer the refund_deadline belongs to",)})
    places = await further(index, [first], "shop/sums.py::total", critic_feedback=open_question)
    shown = [place for place in places if place in rest]

    assert len(rest) > WIDE_CHUNKS
    assert set(asked) <= set(places[: WIDE_CHUNKS // 2])
    assert places[: WIDE_CHUNKS // 2] == sorted(places[: WIDE_CHUNKS // 2], key=rest.index)
    assert len(places) == len(set(places)) == WIDE_CHUNKS
    assert shown[: WIDE_CHUNKS // 2] == places[: WIDE_CHUNKS // 2]


@pytest.mark.parametrize("place", ["shop/part1.py::total_1", "shop/gone.py::total", "not identified"])
async def test_a_further_search_without_a_rest_to_show_is_a_search_like_any_other(tmp_path, place):
    index = an_index(tmp_path, SHOP)
    shown = [chunk.id for chunk in index.chunks if chunk.path == "shop/sums.py"][:1]
    given = CODEBASE_SEARCH.read(a_state(places_read=shown, findings=[a_finding("codebase_search", details=place)]))
    best = index.retriever(WIDE_CHUNKS, without=frozenset(shown)).invoke(query_of(given))

    assert await further(index, shown, place) == [document.id for document in best]


async def test_a_search_after_one_that_showed_nothing_asks_what_a_first_one_asks(tmp_path):
    index, named = an_index(tmp_path, SHOP), a_finding("codebase_search", details="shop/sums.py::total")

    assert (await search(index, an_answer(), findings=[named]))[0] == (await search(index, an_answer()))[0]

"""Two orders of one question: what counts as a preference."""

import pytest

from evals.llm_judge.grade_statistics import Paired, position, preferences
from evals.llm_judge.judge_questions import JudgeReply
from evals.models.judge import PairAnswer
from evals.triage.judge.triage_rubric import load_prompts, pair_question
from tests.builders.judge import a_dossier

PROMPTS = load_prompts("v1")


def a_pair(case_id, first, second):
    dossier = a_dossier(title=case_id)
    return Paired(case_id, first, second, pair_question(case_id, f"{first} {second}", dossier, dossier, PROMPTS))


def told(said):
    """Case -> what each order prefers (new first, then old first); None is not on tape."""
    items, answers = [], {}
    for case_id, choices in said.items():
        for (first, second), choice in zip((("new", "old"), ("old", "new")), choices, strict=True):
            item = a_pair(case_id, first, second)
            items.append(item)
            answer = choice and PairAnswer(first_strength="", second_strength="", reason="", preferred=choice)
            answers[item.question] = JudgeReply(item.question, answer or None)
    return items, answers


@pytest.mark.parametrize(
    ("choices", "field"),
    [
        (("first", "second"), "better"),
        (("second", "first"), "worse"),
        (("tie", "tie"), "tie"),
        (("first", "first"), "contradicted"),
        (("first", "tie"), "better"),
        (("tie", "first"), "worse"),
        (("first", None), "missing"),
    ],
)
def test_two_orders_make_one_preference(choices, field):
    items, answers = told({"a": choices})
    found = preferences(items, answers, {"a": "a"}, "new", "old", equal=0)
    fields = ("better", "worse", "tie", "contradicted", "missing")

    assert {name: getattr(found, name) for name in fields} == {name: int(name == field) for name in fields}


def test_cases_of_one_cluster_are_one_vote():
    items, answers = told(dict.fromkeys("abcdef", ("first", "second")))
    apart = preferences(items, answers, {name: name for name in "abcdef"}, "new", "old", equal=0)
    together = preferences(items, answers, dict.fromkeys("abcdef", "one"), "new", "old", equal=0)

    assert apart.p_value == pytest.approx(2 / 64)
    assert together.p_value == 1.0


def test_a_judge_that_always_takes_the_first_is_seen():
    items, answers = told({"a": ("first", "first"), "b": ("first", "first")})
    lengths = {(case, name): 1 + (name == "new") for case in "ab" for name in ("new", "old")}
    found = position(items, answers, lengths)

    assert (found.first.hits, found.first.n) == (4, 4)
    assert found.consistent.hits == 0
    assert (found.longer.hits, found.longer.n) == (2, 4)

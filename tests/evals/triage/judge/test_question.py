"""A question is a function of the dossier, and lies among others by chance."""

from evals.triage.judge.triage_rubric import load_prompts, pair_question, rubric_question
from tests.builders.judge import a_dossier, a_written

PROMPTS = load_prompts("v1")


def test_the_same_dossier_asks_the_same_whoever_it_is_of():
    one, other = (rubric_question("wrong-sum", name, a_dossier(), PROMPTS) for name in ("v3", "v5"))

    assert one.human == other.human


def test_a_question_asked_twice_does_not_lie_beside_itself():
    once = rubric_question("wrong-sum", "v3", a_dossier(), PROMPTS)
    twice = rubric_question("wrong-sum", "v3", a_dossier(), PROMPTS, second=True)

    assert once.human == twice.human
    assert once.place != twice.place
    assert (twice.sample, twice.samples) == (1, 2)


def test_a_pair_in_the_other_order_is_another_question():
    left, right = a_dossier(), a_dossier(written=a_written(ticket="Another"))

    assert (
        pair_question("wrong-sum", "", left, right, PROMPTS).human
        != pair_question("wrong-sum", "", right, left, PROMPTS).human
    )


def test_no_label_but_the_one_sentence_is_asked_with():
    asked = rubric_question("wrong-sum", "v3", a_dossier(), PROMPTS).human

    assert "The loop over the lines ends one too early." in asked
    assert "wrong-sum" not in asked
    assert "v3" not in asked

"""The baselines: what is reached without any model."""

import pytest

from evals.dataset.baselines import always_ask, best_constant_route, bm25_first_file, skill, two_branches
from evals.dataset.codebase import materialise
from evals.dataset.load import load_cases
from tests.builders.dataset import ISSUE, a_codebase, a_dataset, a_sound_dataset


def test_the_best_constant_route_is_the_one_that_passes_most(tmp_path):
    route, hits = best_constant_route(load_cases(a_sound_dataset(tmp_path)).values())

    assert (len(route), hits.hits, hits.cases) == (4, 1, 2)


def test_always_asking_passes_where_a_question_is_required_and_nowhere_else(tmp_path):
    cases = load_cases(a_sound_dataset(tmp_path))

    assert {name: always_ask([case]).hits for name, case in cases.items()} == {"which-region": 1, "wrong-total": 0}


def test_an_installed_package_in_the_issue_sends_the_two_branch_rule_to_the_web(tmp_path):
    """Which is wrong here: the case wants the code searched."""
    code = load_cases(a_dataset(tmp_path / "a"))
    web = load_cases(a_dataset(tmp_path / "b", issue=ISSUE + 'File "lib/site-packages/x.py"\n'))

    assert (two_branches(code.values()).hits, two_branches(web.values()).hits) == (1, 0)


@pytest.mark.parametrize(("words", "hits"), [("the netTotal of the cart", 1), ("sending letters by mail", 0)])
def test_bm25_names_the_file_with_the_words_of_the_issue(tmp_path, words, hits):
    root = a_dataset(tmp_path / "d", issue=f"Wrong\n\nIt is {words}.\n")
    a_codebase(root, shop__mail="def mail(letters):\n    return letters\n")
    cases = load_cases(root).values()

    assert bm25_first_file(cases, lambda case: materialise(case, root, tmp_path / "c")).hits == hits


def test_a_case_without_gold_is_lost_to_bm25(tmp_path):
    root = a_sound_dataset(tmp_path)
    case = load_cases(root)["which-region"]

    assert bm25_first_file([case], lambda each: materialise(each, root, tmp_path / "c")).hits == 0


def test_no_cases_have_no_share():
    assert always_ask([]).share is None


@pytest.mark.parametrize(
    ("score", "baseline", "value"), [(0.75, 0.5, 0.5), (0.5, 0.5, 0.0), (0.4, 0.5, -0.2), (1, 1, None)]
)
def test_skill_is_what_was_won_of_what_could_be_won(score, baseline, value):
    assert skill(score, baseline) == (None if value is None else pytest.approx(value))

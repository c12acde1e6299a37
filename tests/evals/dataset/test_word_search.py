"""Root causes without a model: by shared words, and by silence."""

import pytest

from evals.dataset.codebase import materialise
from evals.dataset.load import load_cases
from evals.dataset.word_search import root_cause_baselines
from tests.builders.dataset import a_codebase, a_dataset, a_sound_dataset


@pytest.mark.parametrize(("words", "hits"), [("the netTotal of the cart", 1), ("sending letters by mail", 0)])
def test_bm25_names_the_file_with_the_words_of_the_issue(tmp_path, words, hits):
    root = a_dataset(tmp_path / "d", issue=f"Wrong\n\nIt is {words}.\n")
    a_codebase(root, shop__mail="def mail(letters):\n    return letters\n")

    ranking, _ = root_cause_baselines(load_cases(root).values(), lambda case: materialise(case, root, tmp_path / "c"))

    assert ranking.share == hits


def test_silence_wins_where_nothing_is_to_blame_and_bm25_where_something_is(tmp_path):
    root = a_sound_dataset(tmp_path)
    cases = load_cases(root).values()

    ranking, silence = root_cause_baselines(cases, lambda case: materialise(case, root, tmp_path / "c"))

    assert (ranking.share, silence.share, silence.n) == (0.5, 0.5, 2)


def test_a_case_without_code_is_lost_to_bm25_and_breaks_nothing(tmp_path):
    root = a_sound_dataset(tmp_path)
    (tmp_path / "empty").mkdir()

    ranking, _ = root_cause_baselines(load_cases(root).values(), lambda case: tmp_path / "empty")

    assert ranking.share == 0


def test_no_cases_have_no_baselines():
    assert root_cause_baselines([], lambda case: None) == []

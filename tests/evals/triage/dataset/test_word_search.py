"""Root causes without a model: by shared words, and by silence."""

import pytest

from evals.errors import DatasetError
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.floor_scores import root_cause_baselines
from evals.triage.dataset.load_cases import load_cases
from tests.builders.dataset import a_codebase, a_dataset, a_sound_dataset


def baselines(root, cache):
    return root_cause_baselines(load_cases(root).values(), lambda case: materialise(case, root, cache), cache)


@pytest.mark.parametrize(("words", "hits"), [("the netTotal of the cart", 1), ("sending letters by mail", 0)])
def test_bm25_names_the_file_with_the_words_of_the_issue(tmp_path, words, hits):
    root = a_dataset(tmp_path / "d", issue=f"Wrong\n\nIt is {words}.\n")
    a_codebase(root, shop__mail="def mail(letters):\n    return letters\n")

    ranking, _ = root_cause_baselines(
        load_cases(root).values(), lambda case: materialise(case, root, tmp_path / "c"), tmp_path
    )

    assert ranking.share == hits


def test_silence_wins_where_nothing_is_to_blame_and_bm25_where_something_is(tmp_path):
    root = a_sound_dataset(tmp_path)

    ranking, silence = baselines(root, tmp_path)

    assert (ranking.share, silence.share, silence.n) == (0.5, 0.5, 2)


def test_a_case_without_code_is_lost_to_bm25_and_breaks_nothing(tmp_path):
    root = a_sound_dataset(tmp_path)
    (tmp_path / "empty").mkdir()

    ranking, _ = root_cause_baselines(load_cases(root).values(), lambda case: tmp_path / "empty", tmp_path)

    assert ranking.share == 0


def test_no_cases_have_no_baselines():
    assert root_cause_baselines([], lambda case: None, None) == []


def test_what_was_kept_and_damaged_is_searched_anew(tmp_path):
    root = a_sound_dataset(tmp_path)
    before = baselines(root, tmp_path)
    for entry in (tmp_path / "words").glob("*/*"):
        entry.write_bytes(b"shop/other.py\n")

    assert baselines(root, tmp_path) == before


def test_code_that_is_no_text_is_named(tmp_path):
    root = a_dataset(tmp_path / "datasets")
    odd = root / "codebases" / "shop" / "shop" / "odd.py"
    odd.write_bytes(b"# J\xf6rg\n")

    with pytest.raises(DatasetError, match=r"shop/odd\.py: cannot be read as UTF-8 text"):
        baselines(root, tmp_path / "cache")

"""A digest follows its file."""

from evals.runner.trial_cache import digest_of_replaced


def test_a_file_that_is_not_there_is_absent(tmp_path):
    assert digest_of_replaced(tmp_path / "vectors.npz") == "absent"

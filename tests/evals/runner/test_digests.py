"""A digest follows its file."""

from evals.runner.dependencies import digest_of_replaced, file_digest


def test_a_file_that_was_replaced_has_another_digest(tmp_path):
    path, other = tmp_path / "vectors.npz", tmp_path / "new"
    path.write_bytes(b"one")
    before = digest_of_replaced(path)
    other.write_bytes(b"two")
    other.replace(path)

    assert digest_of_replaced(path) == file_digest(path) != before


def test_a_file_that_is_not_there_is_absent(tmp_path):
    assert digest_of_replaced(tmp_path / "vectors.npz") == "absent"

from pathlib import Path

import pytest

from tests.builders.repository import a_repository
from triage.codebase.source_files import MAX_FILE_BYTES, source_files


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (".git/config", b"x"),
        (".env", b"x"),
        ("a/__pycache__/b.py", b"x"),
        ("node_modules/c.js", b"x"),
        ("shop.egg-info/PKG-INFO", b"x"),
        ("logo.png", b"\x89PNG\0\0"),
        ("latin.txt", b"caf\xe9"),
        ("huge.csv", b"1," * MAX_FILE_BYTES),
    ],
)
def test_what_is_no_source_is_left_out(tmp_path, path, content):
    a_repository(tmp_path, {path: content, "kept.py": "x = 1\n"})

    assert [name for name, _ in source_files(tmp_path)] == ["kept.py"]


def test_a_link_out_of_the_repository_is_not_followed(tmp_path):
    secret = a_repository(tmp_path / "home", {"key.txt": "secret"}) / "key.txt"
    root = a_repository(tmp_path / "repo", {"kept.py": "x = 1\n"})
    (root / "link.txt").symlink_to(secret)

    assert [name for name, _ in source_files(root)] == ["kept.py"]


def test_files_come_by_path_whatever_order_they_were_made_in(tmp_path):
    a_repository(tmp_path, {"b.py": "x", "a/z.py": "x", "a.py": "x"})

    assert [name for name, _ in source_files(Path(tmp_path))] == ["a.py", "a/z.py", "b.py"]

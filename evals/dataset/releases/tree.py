"""Which files of a release are searched: the Python a fault can be in, without the tests that would tell.

Left out are folders called `test` or `tests` with all below them, `test_*.py`, `*_test.py`, `conftest.py`, metadata,
and whatever is not `.py`. It is one rule for every package, so that nobody can choose what a search finds.
"""

import shutil
from pathlib import Path, PurePosixPath
from typing import Final

from evals.kept import digest_of
from evals.models.release import Release

RULE: Final = b"1"
"""Rises with the rule: another tree gets another name."""
TEST_FOLDERS: Final = frozenset({"test", "tests"})


def tree_name(release: Release) -> str:
    """What the search tree of a release is called: by its file's sha256 and by the rule."""
    return f"{release.package}-{release.version}-{digest_of(RULE, release.sha256.encode())[:16]}"


def is_searched(path: PurePosixPath) -> bool:
    """Whether a file of the unpacked release, by its path in it, belongs to the search tree."""
    named_test = path.name.startswith("test_") or path.name.endswith("_test.py") or path.name == "conftest.py"
    metadata = path.parts[0].endswith((".dist-info", ".data", ".egg-info"))
    return path.suffix == ".py" and not named_test and not metadata and TEST_FOLDERS.isdisjoint(path.parts[:-1])


def copy_searched(unpacked: Path, tree: Path) -> None:
    """The search tree of an unpacked release, as a new folder `tree`."""
    tree.mkdir()
    for file in sorted(unpacked.rglob("*.py")):
        path = PurePosixPath(file.relative_to(unpacked).as_posix())
        if is_searched(path):
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, tree / path)

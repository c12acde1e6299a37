"""A full disk, a file that may not grow, a folder nobody may write to: one line, nothing lost, and it goes on."""

import re
import resource
import shutil
import sys
from functools import partial

import pytest

from evals.cassettes.cassette_files import load
from tests.builders.at_once import evals_at_once
from tests.builders.checkout import a_checkout, evals
from tests.builders.disk import a_small_disk, grow, unwritable
from tests.builders.interaction import words_of
from tests.builders.llm_server import an_llm_server
from tests.builders.recording_process import recording
from tests.faults.test_kill import echo

pytestmark = pytest.mark.slow


def may_write(size):
    """From now on no file of this process grows beyond so many bytes, as quotas set it."""
    sys.dont_write_bytecode = True  # or Python itself would leave half a file beside our code
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def outcome(process):
    """(exit code, what it had been told, what it said)."""
    out, err = process.communicate(timeout=300)
    return process.returncode, {line.split()[0] for line in out.splitlines()[1:]}, err


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a recording nothing happened to writes."""
    path = tmp_path_factory.mktemp("whole") / "case.yaml"
    with an_llm_server(echo) as llm:
        outcome(recording(llm.base_url, path))
    return path.read_bytes()


def test_a_full_disk_is_said_in_a_line_and_room_is_all_it_takes_to_go_on(tmp_path, whole):
    with a_small_disk(tmp_path / "disk", "36k") as disk, an_llm_server(echo) as llm:
        path = disk / "case.yaml"
        code, told, said = outcome(recording(llm.base_url, path))
        there = set(words_of(load(path).interactions))
        left = sorted(each.name for each in disk.iterdir() if each.suffix not in {".arrived", ".lock"})
        grow(disk, "1m")
        again, _, _ = outcome(recording(llm.base_url, path))

        assert (code, again) == (3, 0)
        assert said == (
            f"evals: {path}: cannot be written (No space left on device); make room on that disk, then run it again: "
            "what was there is still whole\n"
        )
        assert told <= there
        assert there
        assert left == ["case.yaml"]  # nothing half written
        assert path.read_bytes() == whole


def test_a_file_that_may_not_grow_any_further_is_the_same(tmp_path, whole):
    """Needs no root: a limit on the size of files, as quotas set it."""
    path = tmp_path / "case.yaml"
    with an_llm_server(echo) as llm:
        limited = recording(llm.base_url, path, before=partial(may_write, 12_000))
        code, told, said = outcome(limited)
        there = set(words_of(load(path).interactions))
        outcome(recording(llm.base_url, path))

    assert code == 3
    assert "cannot be written (File too large); raise the limit on file size" in said
    assert said.count("\n") == 1
    assert told <= there
    assert path.read_bytes() == whole


def test_a_folder_nobody_may_write_to_is_said_in_a_line(tmp_path):
    with an_llm_server(echo) as llm:
        outcome(recording(llm.base_url, tmp_path / "locked" / "case.yaml", questions=3))
        before = (tmp_path / "locked" / "case.yaml").read_bytes()
        with unwritable(tmp_path / "locked") as folder:
            code, told, said = outcome(recording(llm.base_url, folder / "case.yaml", questions=6))

        assert code == 3
        assert "make the folder writable" in said
        assert said.count("\n") == 1
        assert told == {"q0", "q1", "q2"}
        assert (tmp_path / "locked" / "case.yaml").read_bytes() == before


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A checkout with everything on tape."""
    checkout = a_checkout(tmp_path_factory.mktemp("recorded") / "checkout")
    with an_llm_server() as llm:
        assert evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0
    return checkout


@pytest.mark.parametrize("size", [1_000, 6_000])
def test_a_cache_that_may_not_grow_is_said_in_a_line_with_its_file_and_what_to_do(tmp_path, recorded, size):
    checkout = shutil.copytree(recorded, tmp_path / "checkout")
    process = evals_at_once(checkout, "run", "tiny.yaml", "--jobs", "1", before=partial(may_write, size))
    _, said = process.communicate(timeout=300)

    assert process.returncode == 3
    assert re.fullmatch(rf"evals: {checkout}/\.cache/\S+: File too large; see to that, then run it again\n", said)

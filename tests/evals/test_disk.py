"""Whole files or none, and a refusal of the system is one line that says what to do."""

import errno
import os
import subprocess
import sys

import pytest

from evals import atomic_files as disk
from evals.cassettes.cassette_files import discard, load, merge_write
from evals.errors import CassetteError
from tests.builders.interaction import a_cassette, an_interaction


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cases" / "one.yaml"


def test_a_folder_where_a_file_belongs_is_an_error_in_words(path):
    path.mkdir(parents=True)

    with pytest.raises(CassetteError, match=r"one\.yaml: cannot be read \(Is a directory\); see what stands there"):
        load(path)


def test_a_file_where_a_folder_belongs_is_an_error_in_words(path):
    path.parent.write_text("in the way")

    with pytest.raises(CassetteError, match="move the file that stands where a folder belongs"):
        merge_write(path, [an_interaction()])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_refused_write_leaves_the_file_as_it_was_and_nothing_beside_it(path, monkeypatch, number):
    merge_write(path, [an_interaction("a")])
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}

    def refuse(_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(CassetteError, match=r"cannot be written .*what was there is still whole"):
        merge_write(path, [an_interaction("b")])

    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before


HOLDER = """
import sys, time
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_writer_that_never_ends_is_not_waited_for_for_ever(path, monkeypatch):
    monkeypatch.setattr(disk, "LOCK_TIMEOUT_S", 0.1)
    path.parent.mkdir()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path.with_name(".one.yaml.lock")], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"

    with pytest.raises(CassetteError, match="another process has been writing it") as caught:
        merge_write(path, [an_interaction()])
    holder.kill()
    holder.communicate()

    assert "\n" not in str(caught.value)


def test_a_staged_file_goes_once_all_it_holds_is_accepted(path):
    merge_write(path, [an_interaction("a"), an_interaction("b")])

    assert discard(path, a_cassette(an_interaction("a"), an_interaction("b"), an_interaction("c")))
    assert not path.exists()


def test_a_staged_answer_that_was_not_accepted_keeps_the_file(path):
    merge_write(path, [an_interaction("a"), an_interaction("b")])

    assert not discard(path, a_cassette(an_interaction("a")))
    assert len(load(path).interactions) == 2

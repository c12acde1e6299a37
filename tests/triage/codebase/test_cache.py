"""Vectors that all jobs share: what was kept comes back bit by bit, and nothing that happens to the file fails."""

import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.repository import HashEmbedder
from triage.codebase.embed import SharedVectors, cache_folder

CHECKOUT = Path(__file__).parents[3]
WRITER = """
import sys
from pathlib import Path
from tests.builders.repository import HashEmbedder
from triage.codebase.embed import SharedVectors
vectors = SharedVectors(Path(sys.argv[1]), print)
input()
for number in range(200):
    text = f"{sys.argv[2]} {number}"
    vectors.put(text, HashEmbedder().embed([text])[0])
"""


def a_vector(text="text"):
    return HashEmbedder().embed([text])[0]


@pytest.fixture
def place(tmp_path):
    return tmp_path / "cache" / "vectors.sqlite"


def opened(place, complaints=None):
    """The vectors at `place`; a complaint is collected, or fails the test."""
    return SharedVectors(place, pytest.fail if complaints is None else complaints.append)


def filled(place, *texts):
    vectors = opened(place)
    for text in texts:
        vectors.put(text, a_vector(text))
    return vectors


def test_what_one_process_keeps_another_knows_bit_by_bit(place):
    filled(place, "a")

    assert opened(place).get("a").tobytes() == a_vector("a").tobytes()
    assert opened(place).get("b") is None


@pytest.mark.slow
def test_two_processes_that_write_at_once_lose_nothing(place):
    command = [sys.executable, "-c", WRITER, str(place)]
    both = [subprocess.Popen([*command, name], stdin=subprocess.PIPE, text=True, cwd=CHECKOUT) for name in "ab"]
    for process in both:
        process.stdin.write("\n")
        process.stdin.close()
    assert [process.wait(120) for process in both] == [0, 0]

    vectors = opened(place)
    assert all(vectors.get(f"{name} {number}") is not None for name in "ab" for number in range(200))


def test_a_damaged_entry_is_unknown_and_the_others_are_not(place):
    filled(place, "a", "b")
    raw = place.read_bytes()
    at = raw.index(a_vector("a").tobytes()) + 100
    place.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])

    assert opened(place).get("a") is None
    assert opened(place).get("b") is not None


@pytest.mark.parametrize(
    "damage", [lambda raw: b"no database" * 999, lambda raw: raw[:50] + b"\xff" * 9000, lambda _: b""]
)
def test_a_damaged_file_is_begun_anew(place, damage):
    filled(place, "a")
    place.write_bytes(damage(place.read_bytes()))

    filled(place, "b")
    assert opened(place).get("b") is not None


def test_a_file_that_is_damaged_under_our_hands_is_begun_anew(place):
    vectors = filled(place, *map(str, range(100)))
    place.write_bytes(place.read_bytes()[:4096] + b"\xff" * 90_000)

    assert vectors.get("99") is None
    vectors.put("b", a_vector("b"))
    assert opened(place).get("b") is not None


def test_where_nothing_can_be_kept_that_is_said_and_the_work_goes_on(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    complaints = []
    vectors = opened(tmp_path / "file" / "vectors.sqlite", complaints)
    vectors.put("a", a_vector("a"))

    assert vectors.get("a") is not None
    assert len(complaints) == 1
    assert "no vectors can be kept there (" in complaints[0]
    assert complaints[0].endswith("name another folder in TRIAGE_CACHE_DIR")


def test_a_full_disk_is_said_once_and_what_is_there_stays_readable(place):
    """Full for this process: no file of it may grow."""
    filled(place, "a")
    complaints = []
    vectors = opened(place, complaints)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        for text in ("b", "c"):
            vectors.put(text, a_vector(text))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert len(complaints) == 1
    assert vectors.get("c") is not None
    assert opened(place).get("a") is not None


def test_a_writer_that_takes_too_long_is_not_waited_for_for_ever(place, monkeypatch):
    monkeypatch.setattr("triage.codebase.embed._WAIT_S", 0)
    complaints = []
    vectors = opened(place, complaints)
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    vectors.put("a", a_vector("a"))

    assert vectors.get("a") is not None
    assert "locked" in complaints[0]


def test_nobody_else_reads_in_the_cache(place):
    filled(place, "a")

    assert place.parent.stat().st_mode & 0o077 == 0


def test_the_cache_is_where_the_variable_says_else_where_the_platform_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("TRIAGE_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "triage-evals"

    monkeypatch.setenv("TRIAGE_CACHE_DIR", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"

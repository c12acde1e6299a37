"""Where two bodies part, as paths and lines."""

import time

import pytest

from evals.cassettes.calls_and_misses import MAX_CHARS, MAX_LINES, differences

TABLE = {
    "equal": ({"a": [1, "x"]}, {"a": [1, "x"]}, []),
    "a value": ({"a": {"b": 1}}, {"a": {"b": 2}}, [("a.b", "1", "2")]),
    "a member that came": ({}, {"seed": 7}, [("seed", "", "7")]),
    "a member that went": ({"seed": 7}, {}, [("seed", "7", "")]),
    "an item that came": ({"a": [1]}, {"a": [1, 2]}, [("a[1]", "", "2")]),
    "another type": ({"a": "1"}, {"a": 1}, [("a", '"1"', "1")]),
    "a line of a text": ({"a": "x\ny\nz"}, {"a": "x\nY\nz"}, [("a", "y", "Y")]),
    "two places of a text": ({"a": "x\ny\nz"}, {"a": "X\ny\nZ"}, [("a", "x", "X"), ("a", "z", "Z")]),
    "the end of a text": ({"a": "x"}, {"a": "x\n"}, [("a", "'x'", "'x\\n'")]),
}


@pytest.mark.parametrize(("recorded", "asked", "parts"), TABLE.values(), ids=TABLE.keys())
def test_every_place_is_named_with_both_sides(recorded, asked, parts):
    assert [(found.path, found.recorded, found.asked) for found in differences(recorded, asked)] == parts


def test_a_line_stands_with_its_number_and_its_neighbours():
    [found] = differences("one\ntwo\nthree\nfour", "one\ntwo\n3\nfour")

    assert (found.line, found.after, found.before) == (3, "two", "four")


def test_long_differences_are_shortened_to_what_is_read():
    [found] = differences("short", "\n".join(["x" * 1000] * 100))

    lines = found.asked.splitlines()
    assert (len(lines), len(lines[0]), lines[-1]) == (MAX_LINES + 1, MAX_CHARS + 1, "… 92 more lines")


def test_two_pasted_logs_are_compared_in_fifty_milliseconds():
    """Processor time, best of three: the machine may be busy."""
    old, new = ("\n".join(f"{(n * step) % 97} worker idle" for n in range(5000)) for step in (31, 37))
    took = []

    for _ in range(3):
        started = time.process_time()
        differences(old, new)
        took.append(time.process_time() - started)

    assert min(took) < 0.05

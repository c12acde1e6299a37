"""Text that changes by itself, told from text that was changed."""

import pytest

from evals.cassettes.request_key import volatile_kinds

SAME_BUT = {
    "a date": ("on 2026-11-21", "on 2026-11-22", ("date or time",)),
    "a time stamp": ("at 2026-11-21T10:00:00Z", "at 2026-11-22T11:30:12.5+01:00", ("date or time",)),
    "a clock": ("[10:00:01] up", "[23:59:59.123] up", ("date or time",)),
    "a Unix time": ("t=1763780000", "t=1763790000.25", ("Unix time",)),
    "a uuid": ("run 0b6f2a1e-1111-4222-8333-944455566677", "run ffff2a1e-1111-4222-8333-944455566677", ("uuid",)),
    "a temporary path": ("in /tmp/pytest-1/x.py", "in /tmp/tmpab12/x.py", ("temporary path",)),
    "a temporary path on a Mac": ("/private/var/folders/a/T/x", "/private/var/folders/b/T/x", ("temporary path",)),
    "a temporary path on Windows": (r"C:\Users\a\Temp\x1", r"C:\Users\a\Temp\y2", ("temporary path",)),
    "a memory address": ("<Job at 0x7f3a12>", "<Job at 0x7f9b00>", ("memory address",)),
    "two kinds": ("2026-11-21 /tmp/a", "2026-11-22 /tmp/b", ("temporary path", "date or time")),
}
MORE = {
    "nothing": ("on 2026-11-21", "on 2026-11-21"),
    "a word": ("on 2026-11-21 it fails", "on 2026-11-22 it crashes"),
    "a number": ("iteration 3 / 10", "iteration 4 / 10"),
    "a version": ("python 3.11.2", "python 3.12.2"),
    "a colour": ("#ff00aa", "#ff00bb"),
}


@pytest.mark.parametrize(("recorded", "asked", "kinds"), SAME_BUT.values(), ids=SAME_BUT.keys())
def test_texts_that_differ_in_volatile_text_alone_say_in_which(recorded, asked, kinds):
    assert volatile_kinds(recorded, asked) == kinds


@pytest.mark.parametrize(("recorded", "asked"), MORE.values(), ids=MORE.keys())
def test_texts_that_differ_in_more_or_in_nothing_are_not_volatile(recorded, asked):
    assert volatile_kinds(recorded, asked) == ()

"""Text that would act unseen is shown instead."""

import json

import pytest

from evals.report.numbers import script_json
from evals.shared.display_text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u2066b", "a⟨U+2066⟩b"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\U000e0041b", "a⟨U+E0041⟩b"),
        ("a\x00b\x7fc\x9bd", "a␀b␡c⟨U+009B⟩d"),
        ("half\ud800", "half⟨U+D800⟩"),
        ("one\r\ntwo\rthree", "one\ntwo␍three"),
        ("tab\tand\nline, größer 日本語 👩‍💻", "tab\tand\nline, größer 日本語 👩‍💻"),
    ],
)
def test_unseen_characters_are_spelled_out(text: str, shown: str):
    assert visible(text) == shown


def test_json_cannot_leave_its_script_element():
    value = {"a": "</script><script>alert(1)</script>", "b": "<!-- & \u2028\u2029"}

    written = script_json(value)

    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written) == value

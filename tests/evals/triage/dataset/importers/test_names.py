"""Lists of names as they are met in rows."""

import numpy as np
import pytest

from evals.triage.dataset.imported_issue_files import function_of, names_in

SPELLINGS = [["a.py", "b.py"], ("a.py", "b.py"), '["a.py", "b.py"]', "['a.py', 'b.py']", "('a.py', 'b.py')"]


@pytest.mark.parametrize("value", [*SPELLINGS, np.array(["a.py", "b.py"]), [["a.py"], ["b.py"]]], ids=repr)
def test_a_list_is_read_however_it_was_saved(value):
    assert names_in(value) == ("a.py", "b.py")


@pytest.mark.parametrize("value", [None, "", [], "[]", "None", "null", [[]], [""], float("nan")])
def test_nothing_is_no_name(value):
    assert names_in(value) == ()


@pytest.mark.parametrize(
    "value", [3, [3], "[1, 2]", {"a": 1}, "['a.py'", "[" * 9 + "]" * 9, "[" * 99_999, "[__import__('os').getcwd()]"]
)
def test_what_is_no_list_of_names_is_refused(value):
    """The last one would be a call: literals are read, nothing is executed."""
    with pytest.raises(ValueError, match=r"where a name belongs|neither JSON nor a Python literal"):
        names_in(value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a.py:f", "f"),
        ("a.py::f", "f"),
        ("a.py:A.m", "A.m"),
        ("a.py::A.m", "A.m"),
        ("a.py:A.__init__", "A"),
        ("a.py:f.inner", "f.inner"),
        ("a.py:größe", "größe"),
    ],
)
def test_a_function_is_read_in_both_spellings(text, name):
    assert function_of(text) == ("a.py", name)


@pytest.mark.parametrize("text", ["a.py", "a.py:", ":f", "a.py:12", "a.py:f()"])
def test_what_names_no_function_is_refused(text):
    with pytest.raises(ValueError, match="is no"):
        function_of(text)

"""The long random search finds what the seeded examples miss; the mutants fit the code that they change."""

import pytest

from tests.explore.__main__ import ROOT, main
from tests.mutation.mutants import mutants

pytestmark = pytest.mark.slow

PROPERTY = """
from hypothesis import given, strategies as st


@given(a=st.integers(), b=st.text())
def test_it(a, b):
    assert a < 3000 or False
"""


def test_what_is_found_is_printed_as_the_line_to_add(tmp_path, capsys):
    (tmp_path / "test_property.py").write_text(PROPERTY)

    assert main("1", str(tmp_path / "test_property.py")) == 1
    said = capsys.readouterr().out
    assert "test_property.py::test_it: add above it\n    @example(a=3000, b='')" in said


def test_nothing_found_ends_with_the_time(capsys):
    assert main("0.0001", "tests/evals/statistics/test_rates.py") == 0
    assert "nothing found" in capsys.readouterr().out


def test_every_property_is_searched():
    from tests.explore.__main__ import properties

    assert {path for path in properties() if (ROOT / path).is_file()} >= {"tests/evals/cassettes/test_key.py"}


def test_every_mutant_changes_a_file_and_names_tests_that_are_there():
    found = list(mutants(ROOT))
    sources = {one.label: (ROOT / one.path).read_text(encoding="utf-8") for one in found}

    assert len(found) >= 90
    assert [one.label for one in found if one.change(sources[one.label]) == sources[one.label]] == []
    assert {test for one in found for test in one.tests if not (ROOT / "tests" / test).exists()} == set()

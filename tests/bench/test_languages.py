"""The repository that the code search is measured with: its faults are there, and no issue names the function."""

import re

import pytest

from tests.bench.goals.languages import faults, sources, symbols
from triage.codebase.chunk import chunks_of


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault["symbol"])
def test_a_fault_stands_in_its_function_and_its_issue_does_not_name_it(fault):
    name = fault["symbol"].rpartition(".")[2]
    shown = [chunk for chunk in symbols(sources()) if chunk.path == fault["file"] and fault["line"] in chunk.text]

    assert shown
    assert all(re.search(rf"\b{name}\b", chunk.text) for chunk in shown)
    assert not re.search(rf"\b{name}\b", fault["text"], re.IGNORECASE)


def test_every_file_can_be_cut_by_symbol():
    assert [path for path, text in sources().items() if {one.symbol for one in chunks_of(path, text)} == {path}] == []

"""Commands that write several files, killed before each of their writes: run again, they leave what they would have."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.builders.checkout import a_checkout, evals
from tests.builders.killable import killed_before
from tests.builders.llm_server import an_llm_server

pytestmark = pytest.mark.slow

CASE = ("--case", "wrong-sum")


def killed_anywhere(folder: Path, below: str, *words: str) -> Iterator[Path]:
    """A checkout for every change that the command makes `below` it, killed before that change."""
    for change in count(1):
        checkout = a_checkout(folder / str(change))
        if not killed_before(change, checkout / below, checkout, *words):
            assert change > 1
            return
        yield checkout


def test_a_recording_that_is_killed_between_two_writes_lists_its_cassettes_when_it_is_run_again(tmp_path: Path) -> None:
    with an_llm_server() as llm:
        words = ("record", "tiny.yaml", *CASE, "--base-url", llm.base_url)
        for checkout in killed_anywhere(tmp_path, "cassettes", *words):
            assert evals(checkout, *words).code == 0

            said = evals(checkout, "cassette", "verify")
            assert said.code == 0, f"killed before change {checkout.name}: {said.out}"


def test_answers_are_not_added_to_a_cassette_that_was_changed_by_hand(tmp_path: Path) -> None:
    checkout = a_checkout(tmp_path)
    path = checkout / "cassettes" / "wrong-sum.yaml"
    with an_llm_server() as llm:
        words = ("record", "tiny.yaml", *CASE, "--base-url", llm.base_url)
        evals(checkout, *words, "--variant", "old")
        path.write_text(path.read_text().replace('model: "m"', 'model: "larger"'))
        edited = path.read_bytes()
        said = evals(checkout, *words)

    assert said.code == 3
    assert "wrong-sum.yaml: not as manifest.jsonl lists it, so nothing is added" in said.err
    assert path.read_bytes() == edited
    assert evals(checkout, "cassette", "verify").code == 3

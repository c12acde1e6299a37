"""Commands that write several files, killed at each of their writes: run again, they leave what they would have."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import chdir
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from evals.cassettes.cassette_files import merge_write
from evals.cassettes.manifest import move_listed
from evals.cli.cassette_upkeep import prune
from evals.cli.main import main
from tests.builders.checkout import a_checkout, cassettes, evals
from tests.builders.interaction import an_interaction
from tests.builders.killable import killed_before
from tests.builders.llm_server import an_llm_server

pytestmark = pytest.mark.slow

CASE = ("--case", "wrong-sum")


def killed_anywhere(checkout: Path, below: str, run: Callable[[], int]) -> Iterator[Path]:
    """A copy for every change that the command makes `below` the checkout, killed there."""
    for change in count(1):
        copy = Path(shutil.copytree(checkout, checkout.with_name(f"killed-{change}")))
        if not killed_before(change, copy / below, copy, run):
            assert change > 1
            return
        yield copy


def test_a_recording_that_is_killed_lists_its_cassettes_when_it_is_run_again(tmp_path: Path) -> None:
    with an_llm_server() as llm:
        words = ("record", "tiny.yaml", *CASE, "--variant", "old", "--base-url", llm.base_url)
        for checkout in killed_anywhere(a_checkout(tmp_path / "checkout"), "cassettes", partial(main, [*words])):
            assert evals(checkout, *words).code == 0

            said = evals(checkout, "cassette", "verify")
            assert said.code == 0, f"{checkout.name}: {said.out}"


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


def test_a_tidying_that_is_killed_lists_what_is_left_when_it_is_run_again(checkout: Path) -> None:
    for name in ("wrong-sum", "nobody"):  # the second holds nothing else, and goes
        merge_write(checkout / "cassettes" / f"{name}.yaml", [an_interaction("nobody asks this")], move=move_listed)
    drop = partial(prune, Path(), jobs=1, yes=True, shipped=["tiny.yaml"])
    for killed in killed_anywhere(checkout, "cassettes", drop):
        with chdir(killed):
            assert drop() == 0
        assert set(cassettes(killed)) == {"wrong-sum.yaml", "wrong-total.yaml"}

        said = evals(killed, "cassette", "verify")
        assert said.code == 0, f"{killed.name}: {said.out}"


def test_a_baseline_is_old_or_new_after_a_kill(checkout: Path) -> None:
    baselines = "evals/suites/baselines"
    before = {path.name: path.read_bytes() for path in (checkout / baselines).glob("*.json")}
    for killed in killed_anywhere(checkout, baselines, partial(main, ["bless", "tiny.yaml", "--jobs", "1"])):
        assert {path.name: path.read_bytes() for path in (killed / baselines).glob("*.json")} == before

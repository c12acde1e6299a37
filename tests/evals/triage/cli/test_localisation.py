"""`evals score-localisation`: what it prints and how it exits."""

import json

import pytest

from evals.errors import ConfigurationError
from evals.triage.cli.dataset_reports import fraction, ranks
from tests.builders.command import command
from tests.builders.foreign import as_json_lines

GOLD = [{"instance_id": "i1", "edit_functions": ["a.py:A.m"]}, {"instance_id": "i2", "edit_functions": ["b.py:f"]}]
FOUND = {
    "instance_id": "i1",
    "found_files": [["a.py"]],
    "found_modules": [["a.py:A"]],
    "found_entities": [["a.py:A.x"]],
}


def scored(tmp_path, *rows, gold=GOLD, more=()):
    files = as_json_lines(tmp_path / "gold.jsonl", *gold), as_json_lines(tmp_path / "pred.jsonl", *rows)
    return command("score-localisation", "--gold", files[0], "--pred", files[1], *more)


def test_the_table_names_all_three_levels_and_what_was_not_predicted(tmp_path):
    said = scored(tmp_path, FOUND)

    assert said.code == 0
    assert "function level (outermost definition; LocAgent's module level), 2 instances" in " ".join(said.out.split())
    assert "1 of 2 without a prediction, counted as wrong" in said.out


def test_json_holds_counts_beside_every_rate(tmp_path):
    said = scored(tmp_path, FOUND, more=("--json", "--k", "1"))

    levels = json.loads(said.out)
    first = {level: levels[level]["metrics"][0] for level in levels}
    assert {level: (each["name"], each["hits"], each["n"]) for level, each in first.items()} == {
        "file": ("Hit@1", 1, 2),
        "function": ("Hit@1", 1, 2),
        "whole name": ("Hit@1", 0, 2),
    }


def test_the_same_files_give_the_same_bytes(tmp_path):
    assert scored(tmp_path, FOUND, more=("--json",)) == scored(tmp_path, FOUND, more=("--json",))


def test_a_prediction_for_an_unknown_instance_exits_with_2(tmp_path):
    said = scored(tmp_path, FOUND, FOUND | {"instance_id": "i9"})

    assert (said.code, said.out) == (2, "")
    assert "pred.jsonl:2: predicts 'i9'" in said.err


def test_nothing_to_score_exits_with_3(tmp_path):
    said = scored(tmp_path, FOUND, gold=[{"instance_id": "i1", "files": []}])

    assert said.code == 3
    assert "nothing to score" in said.err


@pytest.mark.parametrize("text", ["", "0", "1,", "-1", "a", "1.5"])
def test_ranks_that_are_none_are_refused(text):
    with pytest.raises(ConfigurationError, match="from 1 upwards"):
        ranks(text)


def test_ranks_are_sorted_and_taken_once():
    assert ranks("5, 1,5") == (1, 5)


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0.000"), (1e-9, "0.001"), (0.5, "0.500"), (0.9999, "0.999"), (1, "1.000")]
)
def test_a_mean_is_never_rounded_to_perfect(value, shown):
    assert fraction(value) == shown

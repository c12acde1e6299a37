"""Gold and predictions in every form they come in."""

import pytest

from evals.errors import DatasetError
from evals.triage.localisation.ranking_files import merged, read_gold, read_predictions
from tests.builders.dataset import write
from tests.builders.foreign import a_locagent_output, a_locbench_row, a_swebench_row, as_json_lines


def gold_of(tmp_path, row):
    return read_gold(as_json_lines(tmp_path / "gold.jsonl", {"instance_id": "i", **row}))["i"]


def predicted(tmp_path, row):
    return read_predictions(as_json_lines(tmp_path / "pred.jsonl", {"instance_id": "i", **row}), ["i"])["i"]


def test_gold_of_locagents_benchmark_is_read_off_its_functions(tmp_path):
    gold = gold_of(
        tmp_path, a_locbench_row(instance_id="i", edit_functions=["b.py:B.__init__", "a.py:A.m", "a.py:A.n"])
    )

    assert gold["file"] == ("b.py", "a.py")
    assert gold["function"] == ("b.py::B", "a.py::A")
    assert gold["whole name"] == ("b.py::B", "a.py::A.m", "a.py::A.n")


def test_gold_of_swebench_is_the_files_of_the_patch_and_no_function(tmp_path):
    assert gold_of(tmp_path, a_swebench_row(instance_id="i")) == {"file": ("shop/cart.py",)}


def test_plain_gold_is_read_in_both_spellings(tmp_path):
    gold = gold_of(tmp_path, {"files": ["./a.py"], "functions": ["a.py::A.m", "a.py:A.m"]})

    assert gold == {"file": ("a.py",), "function": ("a.py::A",), "whole name": ("a.py::A.m",)}


@pytest.mark.parametrize("saved", [lambda lists: lists, repr])
def test_locagents_lists_of_lists_are_rankings(tmp_path, saved):
    """Its own list of modules counts for the outermost names, not what could be made of its entities."""
    row = {"found_files": [["b.py", "a.py"]], "found_modules": [["a.py:A"]], "found_entities": [["b.py:g.h"]]}

    named = predicted(tmp_path, {key: saved(value) for key, value in row.items()})

    assert named == {"file": ("b.py", "a.py"), "function": ("a.py::A",), "whole name": ("b.py::g.h",)}


def test_without_its_modules_locagents_entities_give_the_outermost_names(tmp_path):
    named = predicted(tmp_path, {"found_entities": ["a.py:A.m", "a.py:A.n", "a.py:f"]})

    assert named["function"] == ("a.py::A", "a.py::f")


def test_a_whole_output_row_is_a_prediction(tmp_path):
    assert predicted(tmp_path, a_locagent_output(instance_id="i"))["file"] == ("shop/wrong.py",)


def test_samples_are_merged_by_summed_reciprocal_ranks():
    """b: 1/2 + 1 + 1 = 2.5; a: 1 + 1/2 = 1.5; c: 1/3 + 1/2."""
    assert merged([["a", "b", "c"], ["b", "a"], ["b", "c"]]) == ("b", "a", "c")


def test_a_level_that_is_not_spoken_of_is_not_one_without_names(tmp_path):
    assert predicted(tmp_path, {"files": []}) == {"file": ()}


def test_a_name_that_is_no_function_is_a_wrong_answer_and_keeps_its_rank(tmp_path):
    assert predicted(tmp_path, {"functions": ["the loop", "a.py::f"]})["function"] == ("the loop", "a.py::f")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("nonsense", "is not JSON"),
        ("[1]", "is a list, no object"),
        ('{"files": []}', "has no instance_id"),
        ('{"instance_id": "i"}', "holds no prediction"),
        ('{"instance_id": "i", "files": "a.py"}', "`files` is the text 'a.py' where a list belongs"),
        ('{"instance_id": "i", "files": [1]}', "`files` holds int where a name belongs"),
        ('{"instance_id": "i", "found_files": "[broken"}', "`found_files` is neither JSON nor"),
        ('{"instance_id": "stranger", "files": []}', "predicts 'stranger', which the gold file does not have"),
        ('{"instance_id": "known", "files": []}', "is about 'known', as was 1; keep one"),
    ],
)
def test_a_wrong_prediction_is_named_with_file_and_line(tmp_path, line, complaint):
    path = as_json_lines(tmp_path / "pred.jsonl", {"instance_id": "known", "files": []}, line)

    with pytest.raises(DatasetError, match=rf"pred\.jsonl:2: .*{complaint}"):
        read_predictions(path, ["known", "i"])


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({}, "holds no gold"),
        ({"functions": ["the loop"]}, "'the loop' is no"),
        ({"edit_functions": "a.py:f"}, "is the text"),
        ({"patch": "words"}, "no diff"),
    ],
)
def test_wrong_gold_is_named_with_file_and_line(tmp_path, row, complaint):
    with pytest.raises(DatasetError, match=rf"gold\.jsonl:1: .*{complaint}"):
        gold_of(tmp_path, row)


def test_rows_of_a_list_are_counted(tmp_path):
    path = write(tmp_path / "gold.json", '[{"instance_id": "i", "files": []}, {}]')

    with pytest.raises(DatasetError, match=r"gold\.json:row 2: has no instance_id"):
        read_gold(path)

"""Two trees of run.json are compared value by value, by name."""

import json

import pytest

from tests.compare_runs import differences, main

RUN = {
    "schema_version": 7,
    "verdict": {"exit_code": 0, "reasons": []},
    "digests": {"code": "a"},
    "trials": [{"id": "cart", "score": 0.1}, {"id": "shop", "score": 3}],
}


def a_tree(folder, **changed):
    for name in ("prompts", "guards"):
        (folder / name).mkdir(parents=True)
        (folder / name / "run.json").write_text(json.dumps({**RUN, **changed}), encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize(
    ("new", "differ"),
    [
        (0.1 * (1 + 1e-10), False),
        (0.1 * (1 + 1e-8), True),
        (None, True),
        ("0.1", True),
        (0, True),
    ],
)
def test_numbers_are_equal_within_a_relative_difference_of_1e_9(new, differ):
    assert bool(differences({"x": 0.1}, {"x": new})) is differ


@pytest.mark.parametrize(("old", "new"), [(True, 1), (0, False), (None, "None"), ([], {}), ([], [0]), ({}, None)])
def test_values_of_different_kinds_differ(old, new):
    assert differences({"x": old}, {"x": new})


def test_an_integer_equals_the_same_float():
    assert differences({"x": 3}, {"x": 3.0}) == []


def test_items_are_found_by_their_names_whatever_their_order():
    assert differences(RUN, {**RUN, "trials": RUN["trials"][::-1]}) == []


def test_a_lost_item_a_new_key_and_a_changed_value_are_each_one_line():
    after = {"trials": [{"id": "cart", "score": 0.2, "new": 1}]}

    assert differences({"trials": [{"id": "cart", "score": 0.1, "old": 2}]}, after) == [
        ".trials[id=cart].new: only after: 1",
        ".trials[id=cart].old: only before: 2",
        ".trials[id=cart].score: 0.1 became 0.2",
    ]


def test_renamed_keys_are_compared_under_their_new_names():
    names = {"endpoint": "metric", "verdict.sentence": "summary"}
    before = {"endpoint": 1, "verdict": {"sentence": "a"}, "other": {"sentence": "b"}}

    assert differences(before, {"metric": 1, "verdict": {"summary": "a"}, "other": {"sentence": "b"}}, names) == []


def test_equal_trees_are_exit_code_0(tmp_path, capsys):
    assert main([a_tree(tmp_path / "a"), a_tree(tmp_path / "b")]) == 0
    assert capsys.readouterr().out == "2 runs, 16 values, 0 differences\n"


def test_a_difference_is_exit_code_1_and_names_run_and_value(tmp_path, capsys):
    after = a_tree(tmp_path / "b", verdict={"exit_code": 1, "reasons": []})

    assert main([a_tree(tmp_path / "a"), after]) == 1
    assert "prompts/run.json.verdict.exit_code: 0 became 1" in capsys.readouterr().out


def test_an_ignored_key_is_left_out_with_all_below_it(tmp_path):
    after = a_tree(tmp_path / "b", digests={"code": "b", "more": {"x": 1}})

    assert main([a_tree(tmp_path / "a"), after, "--ignore", "digests"]) == 0


def test_a_run_that_one_side_lacks_is_a_difference(tmp_path, capsys):
    before, after = a_tree(tmp_path / "a"), a_tree(tmp_path / "b")
    (tmp_path / "b" / "guards" / "run.json").unlink()

    assert main([before, after]) == 1
    assert "guards/run.json: only before" in capsys.readouterr().out


@pytest.mark.parametrize("spoiled", ["{", None])
def test_what_cannot_be_read_is_one_line_and_exit_code_2(spoiled, tmp_path, capsys):
    before, after = a_tree(tmp_path / "a"), tmp_path / "b"
    if spoiled is not None:
        a_tree(after)
        (after / "guards" / "run.json").write_text(spoiled, encoding="utf-8")
    else:
        before = str(tmp_path / "nothing")

    assert main([before, str(after)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_spoiled_table_of_names_is_one_line_and_exit_code_2(tmp_path, capsys):
    (tmp_path / "names.tsv").write_text("only one name\n", encoding="utf-8")

    assert main([a_tree(tmp_path / "a"), a_tree(tmp_path / "b"), "--rename", str(tmp_path / "names.tsv")]) == 2
    assert "give old name, tab, new name on each line" in capsys.readouterr().err

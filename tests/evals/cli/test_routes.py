"""`evals routes score`."""

import json
from pathlib import Path

import pytest

from evals.cli.routes_score_command import score
from evals.errors import ConfigurationError

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "route-examples.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("example", GOLD["examples"], ids=lambda example: example["name"])
def test_a_worked_example_is_printed_as_expected(tmp_path, capsys, example):
    spec, traces = tmp_path / "spec.json", tmp_path / "traces.json"
    fields = {"name": example["name"], "node_caps": GOLD["node_caps"], "alternatives": example["alternatives"]}
    spec.write_text(json.dumps(fields), encoding="utf-8")
    traces.write_text(json.dumps(example["traces"]), encoding="utf-8")

    code = score(spec, traces)

    assert code == 0
    assert json.loads(capsys.readouterr().out) == [trace["expected"] for trace in example["traces"]]


def scored(tmp_path, capsys, **how):
    """The first worked example's files, and what is printed of them."""
    example = GOLD["examples"][0]
    spec, traces = tmp_path / "spec.json", tmp_path / "traces.json"
    spec.write_text(json.dumps({"alternatives": example["alternatives"]}), encoding="utf-8")
    traces.write_text(json.dumps(example["traces"]), encoding="utf-8")
    assert score(spec, traces, **how) == 0
    return capsys.readouterr().out, example


def test_every_rule_is_told_with_its_share_on_request(tmp_path, capsys):
    out, example = scored(tmp_path, capsys, explain=True)
    first = json.loads(out)[0]
    names = [each["id"] for each in example["alternatives"][0]["constraints"]]

    assert [rule["id"] for rule in first["why"]["rules"]] == [*names, "steps.max", "hard_max"]
    assert first["why"]["rules"][0].keys() == {"id", "asks", "hard", "weight", "share", "alone"}


def test_what_is_printed_besides_is_unchanged(tmp_path, capsys):
    out, example = scored(tmp_path, capsys, explain=True)

    assert [{k: v for k, v in row.items() if k != "why"} for row in json.loads(out)] == [
        trace["expected"] for trace in example["traces"]
    ]


def test_a_table_says_why_each_route_passes_or_fails(tmp_path, capsys):
    out, example = scored(tmp_path, capsys, table=True)
    told = [line for line in out.splitlines() if line.startswith("Route ")]

    assert len(told) == len(example["traces"])
    assert all("It passes" in line or "It fails" in line for line in told)


def test_a_file_that_is_not_there_is_a_configuration_error(tmp_path):
    with pytest.raises(ConfigurationError):
        score(tmp_path / "spec.json", tmp_path / "traces.json")

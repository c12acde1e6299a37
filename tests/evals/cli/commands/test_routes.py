"""`evals routes score`."""

import json
from pathlib import Path

import pytest

from evals.cli.commands.routes import score
from evals.errors import ConfigurationError

GOLD = json.loads((Path(__file__).parents[3] / "gold" / "route-examples.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("example", GOLD["examples"], ids=lambda example: example["name"])
def test_a_worked_example_is_printed_as_expected(tmp_path, capsys, example):
    spec, traces = tmp_path / "spec.json", tmp_path / "traces.json"
    fields = {"name": example["name"], "node_caps": GOLD["node_caps"], "alternatives": example["alternatives"]}
    spec.write_text(json.dumps(fields), encoding="utf-8")
    traces.write_text(json.dumps(example["traces"]), encoding="utf-8")

    code = score(spec, traces)

    assert code == 0
    assert json.loads(capsys.readouterr().out) == [trace["expected"] for trace in example["traces"]]


def test_a_file_that_is_not_there_is_a_configuration_error(tmp_path):
    with pytest.raises(ConfigurationError):
        score(tmp_path / "spec.json", tmp_path / "traces.json")

"""`evals schema case`: what editors check case.yaml with."""

import json
from pathlib import Path

from evals.cli.main import main

COMMITTED = Path(__file__).parents[4] / "datasets" / "triage" / "case.schema.json"


def test_the_committed_schema_is_what_the_command_prints(capsys):
    assert main(["schema", "case"]) == 0

    assert COMMITTED.read_text(encoding="utf-8") == capsys.readouterr().out


def test_the_schema_refuses_what_it_does_not_know():
    assert json.loads(COMMITTED.read_text(encoding="utf-8"))["additionalProperties"] is False

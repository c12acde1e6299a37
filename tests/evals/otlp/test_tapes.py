"""The words of calls, out of a checkout's cassettes."""

import json

import pytest

from evals.cassettes.cassette_files import merge_write
from evals.errors import CassetteError
from evals.otlp import attribute_names as names
from evals.otlp.span_data import Tapes
from evals.secret_filter import WITHHELD
from evals.workspace import Workspace
from tests.builders.interaction import an_interaction
from tests.builders.secret import PLANTED
from tests.builders.trace import a_call


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "datasets").mkdir()
    (tmp_path / "cassettes").mkdir()
    return Workspace.at(tmp_path)


def a_call_of(interaction):
    return a_call(interaction.agent).model_copy(update={"key": interaction.key})


def test_a_call_has_the_words_its_case_was_recorded_with(workspace):
    asked = an_interaction("Why?", answer="So.")
    merge_write(workspace.cassette("one"), [asked])

    told = Tapes(workspace).words_of(a_call_of(asked), "one", 0)

    assert json.loads(told[names.INPUT_MESSAGES])[0]["parts"][0]["content"] == "Why?"
    assert json.loads(told[names.OUTPUT_MESSAGES])[0]["parts"][0]["content"] == "So."


def test_each_sample_has_its_own(workspace):
    merge_write(workspace.cassette("one"), [an_interaction("Why?", sample=n, answer=f"So {n}.") for n in range(2)])

    told = Tapes(workspace).words_of(a_call_of(an_interaction("Why?")), "one", 1)

    assert "So 1." in told[names.OUTPUT_MESSAGES]


def test_a_call_that_is_on_no_tape_is_counted_and_has_no_words(workspace):
    tapes = Tapes(workspace)

    assert tapes.words_of(a_call(), "one", 0) == {}
    assert tapes.untold == 1


def test_a_cassette_that_cannot_be_trusted_is_an_error_and_no_call_without_words(workspace):
    merge_write(workspace.cassette("one"), [an_interaction()])
    path = workspace.cassette("one")
    path.write_text(path.read_text().replace("line 7", "line 8"))

    with pytest.raises(CassetteError):
        Tapes(workspace).words_of(a_call_of(an_interaction()), "one", 0)


def test_only_the_part_that_holds_a_secret_is_withheld(workspace, monkeypatch):
    """A cassette refuses it; a rule that was added since the recording was read meets it here first."""
    asked = an_interaction(f"use {PLANTED['openai_key']}", answer="So.")
    tapes = Tapes(workspace)
    monkeypatch.setattr("evals.otlp.span_data.load", lambda *_: type("", (), {"exact": lambda *_: asked}))

    told = tapes.words_of(a_call_of(asked), "one", 0)

    assert json.loads(told[names.INPUT_MESSAGES]) == [
        {"role": "user", "parts": [{"type": "text", "content": WITHHELD}]}
    ]
    assert "So." in told[names.OUTPUT_MESSAGES]

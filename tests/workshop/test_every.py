"""What `make test` draws from the shipped cassettes holds each kind, and `make test EVERY=1` draws them all."""

import re
from itertools import chain

import pytest

from tests.builders.shipped import EVERY, all_cassettes, some_cassettes, some_kinds, strata


def test_every_codebase_and_every_model_is_in_the_sample(monkeypatch):
    monkeypatch.delenv(EVERY, raising=False)
    drawn = {path.name for path in some_cassettes()}

    assert all(drawn.intersection(names) for names in strata().values())
    assert {path.name.partition("-")[0] for path in all_cassettes()} == {name.partition("-")[0] for name in drawn}


@pytest.mark.parametrize("sample", [some_cassettes, some_kinds])
def test_every_agent_every_repeat_and_every_model_is_in_the_sample(sample, monkeypatch):
    """The manifest does not say which agents spoke."""
    monkeypatch.delenv(EVERY, raising=False)
    spoken = "".join(path.read_text(encoding="utf-8") for path in sample())
    values = {name: set(re.findall(rf'\b{name}: "?([^",}}]+)', spoken)) for name in ("agent", "sample", "model")}

    assert {"supervisor", "investigator", "codebase_search", "web_search", "critic", "writer"} <= values["agent"]
    assert {"1", "2"} <= values["sample"]
    assert {model for _, models, _ in strata() for model in models} <= values["model"]


def test_every_cassette_is_drawn_where_every_one_is_asked_for(monkeypatch):
    monkeypatch.setenv(EVERY, "1")

    assert some_cassettes() == some_kinds() == all_cassettes()
    assert sorted(chain.from_iterable(strata().values())) == [path.name for path in all_cassettes()]

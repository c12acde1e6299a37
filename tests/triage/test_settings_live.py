"""What the environment says, and what of it is refused before anything is asked."""

import os

import pytest

from triage.errors import ConfigurationError
from triage.live_graph import can_search, settings_from_environment


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("TRIAGE_", "OPENAI_"))]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("TRIAGE_MODELS", '{"investigater": "m"}', "TRIAGE_MODELS: no agent is called 'investigater'; there are"),
        ("TRIAGE_FALLBACKS", '{"crtic": "m"}', "TRIAGE_FALLBACKS: no agent is called 'crtic'"),
        ("TRIAGE_AGENT_URLS", '{"supervisor": "http://x"}', "TRIAGE_AGENT_URLS: no agent is called 'supervisor'"),
        ("TRIAGE_AGENT_URLS", '{"critic": "x:1"}', "TRIAGE_AGENT_URLS: 'x:1' is no address: begin it with http"),
        ("TRIAGE_BASE_URL", "localhost:8080/v1", "TRIAGE_BASE_URL: 'localhost:8080/v1' is no address"),
        ("OPENAI_BASE_URL", "localhost:8080/v1", "TRIAGE_BASE_URL: 'localhost:8080/v1' is no address"),
    ],
)
def test_what_would_do_nothing_is_refused(variable, value, said, monkeypatch):
    monkeypatch.setenv("TRIAGE_API_KEY", "k")
    monkeypatch.setenv(variable, value)

    with pytest.raises(ConfigurationError) as refused:
        settings_from_environment()
    assert str(refused.value).startswith(said)


def test_the_variables_of_openai_stand_in(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway.invalid/v1")
    settings = settings_from_environment()

    assert (settings.base_url, settings.api_key.get_secret_value()) == ("http://gateway.invalid/v1", "theirs")


def test_the_key_for_openai_is_shown_to_no_other_endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    monkeypatch.setenv("TRIAGE_BASE_URL", "http://other.invalid/v1")

    assert settings_from_environment().api_key.get_secret_value() == ""


@pytest.mark.parametrize(
    ("variables", "can"),
    [({}, False), ({"TRIAGE_TAVILY_API_KEY": "k"}, True), ({"TRIAGE_TAVILY_BASE_URL": "http://own.invalid"}, True)],
)
def test_the_web_is_searched_with_a_key_or_at_a_service_of_ones_own(variables, can, monkeypatch):
    monkeypatch.setenv("TRIAGE_API_KEY", "k")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert can_search(settings_from_environment()) is can

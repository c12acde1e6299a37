import pytest

from triage.errors import ConfigurationError
from triage.settings import Settings


def test_naming_one_model_leaves_the_others_at_their_defaults(monkeypatch):
    monkeypatch.setenv("TRIAGE_MODELS", '{"critic": "another"}')

    models = Settings().models

    assert models["critic"] == "another"
    assert models["writer"] == "gpt-4o"


@pytest.mark.parametrize(
    ("agent", "model", "fallback"),
    [
        ("supervisor", "gpt-4o", "gpt-4o-mini"),
        ("investigator", "gpt-4o-mini", "gpt-4o"),
        ("codebase_search", "gpt-4o", "gpt-4o-mini"),
        ("web_search", "gpt-4o-mini", "gpt-4o"),
        ("critic", "gpt-4o", "gpt-4o-mini"),
        ("writer", "gpt-4o", "gpt-4o-mini"),
    ],
)
def test_a_fallback_is_never_the_model_it_stands_in_for(agent, model, fallback):
    """A second request to the model that is rate-limited would help nobody."""
    settings = Settings()

    assert (settings.model_of(agent), settings.model_of(agent, fallback=True)) == (model, fallback)


def test_an_agent_without_a_model_is_told_which_variable_to_set():
    with pytest.raises(ConfigurationError, match=r"'janitor'.*TRIAGE_MODELS"):
        Settings().model_of("janitor")


def test_keys_do_not_show_when_settings_are_printed():
    shown = repr(Settings(api_key="hush", tavily_api_key="hush"))

    assert "hush" not in shown

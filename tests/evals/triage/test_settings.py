"""The environment of the machine must not change a request, nor open a connection."""

import pytest

from evals.models.suite import Models
from evals.triage.variant_graph import settings_of

MODELS = Models(default="m", fallback="f", agents={"critic": "big"})


@pytest.mark.parametrize(
    "variable",
    ["TRIAGE_AGENT_URLS", "TRIAGE_MODELS", "TRIAGE_FALLBACKS", "TRIAGE_BASE_URL", "TRIAGE_MAX_OUTPUT_TOKENS"],
)
@pytest.mark.parametrize("value", ['{"critic": "http://127.0.0.1:9"}', "7"])
def test_no_variable_reaches_the_settings_of_a_suite(monkeypatch, variable, value):
    """A mapping in the environment would be merged into ours, and send the critic's request to another machine."""
    expected = settings_of(MODELS)
    monkeypatch.setenv(variable, value)

    assert settings_of(MODELS) == expected


def test_each_agent_gets_the_model_the_suite_names():
    settings = settings_of(MODELS)

    assert (settings.model_of("critic"), settings.model_of("writer")) == ("big", "m")
    assert settings.model_of("critic", fallback=True) == "f"

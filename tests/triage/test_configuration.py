"""What goes together in a configuration is checked when it is made, not at the first decision."""

import pytest
from pydantic import ValidationError

from triage.errors import ConfigurationError
from triage.graph_configuration import Configuration, RulesSettings
from triage.prompts.load import load_supervisor_prompt


def test_the_numbers_of_the_seed_are_the_defaults():
    assert (RulesSettings().low_confidence, RulesSettings().retries) == (0.65, 2)


@pytest.mark.parametrize("coupled", [(0.65, 0.0), (0.65, 0.19), (0.74, 0.1), (0.0, 0.0)])
def test_a_low_bar_without_its_filter_is_refused(coupled):
    """0.65 is enough only where weak evidence has been kept out."""
    bar, score = coupled
    with pytest.raises(ValidationError, match=r"raise low_confidence to 0\.75 or min_score to 0\.20"):
        RulesSettings(low_confidence=bar, min_score=score)


@pytest.mark.parametrize("field", ["low_confidence", "min_score", "review_below"])
def test_settings_are_fractions(field):
    with pytest.raises(ValidationError, match="less than or equal to 1"):
        RulesSettings(**{field: 65})


@pytest.mark.parametrize("supervisor", ["llm", "registry"])
def test_a_supervisor_with_a_model_needs_a_prompt(supervisor):
    with pytest.raises(ConfigurationError, match=f"supervisor '{supervisor}' needs a prompt"):
        Configuration(supervisor=supervisor)


@pytest.mark.parametrize(("supervisor", "version"), [("llm", "v4"), ("registry", "v3")])
def test_a_prompt_written_for_another_supervisor_is_refused(supervisor, version):
    with pytest.raises(ConfigurationError, match=f"prompt {version} is written for supervisor"):
        Configuration(supervisor=supervisor, prompt=load_supervisor_prompt(version))

"""Variants are checked before anything runs: what does not exist is one line, not a traceback."""

import pytest

from evals.errors import ConfigurationError
from evals.triage.variant_prompts import configuration_of, describe
from evals.triage.variant_settings import RulesSupervisorSettings
from tests.builders.facts import a_variant
from triage import graph_configuration as triage_configuration


def described(tmp_path, **fields):
    return describe(a_variant(**fields).variant, tmp_path)


@pytest.mark.parametrize("prompt", ["v99", "nowhere/mine.md"])
def test_an_unknown_prompt_is_named_with_its_variant(tmp_path, prompt):
    with pytest.raises(ConfigurationError, match=rf"variant v3: {prompt}: no such supervisor prompt"):
        described(tmp_path, prompt=prompt)


def test_an_unknown_guard_set_is_named_with_its_variant(tmp_path):
    with pytest.raises(ConfigurationError, match="variant v3: no guard set is called 'nosuch'"):
        described(tmp_path, guards="nosuch")


def test_a_registry_variant_is_described_with_its_prompt(tmp_path):
    info = described(tmp_path, supervisor="registry", prompt="v4")

    assert info.prompt_version == "v4"
    assert '"purpose"' in info.prompt_text


MISFITS = {
    "a prompt for the rules": ({"supervisor": "rules", "prompt": "v3"}, "'rules' reads no prompt"),
    "no prompt for a model": ({"prompt": None}, "'llm' needs a prompt"),
    "another's prompt": ({"prompt": "v4"}, "v4 is written for supervisor 'registry'"),
    "rules for a model": ({"rules": {}}, "`rules` are settings of supervisor 'rules', not of 'llm'"),
    "a bar without its filter": (
        {"supervisor": "rules", "prompt": None, "rules": {"min_score": 0}},
        "raise low_confidence to 0.75 or min_score to 0.20",
    ),
}


@pytest.mark.parametrize(("fields", "words"), MISFITS.values(), ids=MISFITS)
def test_what_does_not_go_together_is_one_line_that_names_the_variant(tmp_path, fields, words):
    with pytest.raises(ConfigurationError) as caught:
        described(tmp_path, **fields)

    said = str(caught.value)
    assert said.startswith("variant v3: ")
    assert words in said
    assert "\n" not in said


def test_the_settings_of_the_rules_reach_the_graph():
    variant = a_variant(supervisor="rules", prompt=None, rules={"low_confidence": 0.8, "max_retries": 1}).variant

    chosen = configuration_of(variant).rules
    assert (chosen.low_confidence, chosen.retries) == (0.8, 1)


def test_a_suite_and_the_graph_agree_on_the_defaults():
    """They are written twice, since the models of a suite do not know the graph."""
    assert RulesSupervisorSettings().model_dump() == triage_configuration.RulesSettings().model_dump()

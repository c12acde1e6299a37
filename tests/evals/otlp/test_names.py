"""The names are those of the conventions that are installed."""

import re
from pathlib import Path

import pytest
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as installed

from evals.otlp import attribute_names as names

OUR_NAMES = {name: value for name, value in vars(names).items() if isinstance(value, str) and name.isupper()}
CONVENTIONAL = {value for value in OUR_NAMES.values() if value.startswith("gen_ai.")} - {names.SCORE_EVENT}
"""The event's name is in the conventions' text; the package lists attributes only."""
LISTED = {
    value: re.search(r'"""\s*(.*?)\s*"""', text, re.DOTALL)
    for value, text in re.findall(
        r'^GEN_AI_\w+: Final = "([^"]+)"\n(""".*?""")', Path(installed.__file__).read_text(), re.MULTILINE | re.DOTALL
    )
}


@pytest.mark.parametrize("name", sorted(CONVENTIONAL))
def test_every_conventional_name_is_listed_and_not_replaced(name):
    """That they move to another repository is no replacement; `gen_ai.system` is one that was replaced."""
    assert "Moved to" in LISTED[name].group(1)


def test_a_replaced_name_would_be_found():
    assert "Replaced by `gen_ai.provider.name`" in LISTED["gen_ai.system"].group(1)


def test_every_operation_is_one_of_the_conventions():
    known = {one.value for one in installed.GenAiOperationNameValues}

    assert {names.CHAT, names.EXECUTE_TOOL, names.INVOKE_AGENT, names.INVOKE_WORKFLOW} <= known


def test_no_name_of_ours_is_the_beginning_of_another():
    """A namespace is no attribute: a backend that nests names could keep only one of them."""
    ours = sorted(value for value in OUR_NAMES.values() if value.startswith("triage_evals."))

    assert not [(one, two) for one in ours for two in ours if two.startswith(f"{one}.")]

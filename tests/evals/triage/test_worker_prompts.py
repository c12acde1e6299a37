"""Variants of the triage graph that name prompts of workers beside the router's."""

from pathlib import Path

import pytest

from evals.errors import ConfigurationError
from evals.models.suite import Variant
from evals.triage.trial_clients import replay_clients
from evals.triage.variant_graph import team_of
from evals.triage.variant_prompts import describe
from tests.builders.example_projects import ROOT
from triage.agents.agent import prompt_of
from triage.prompts.load import load_agent_prompt


def a_variant(**prompts: str) -> Variant:
    return Variant(name="mine", prompts=prompts)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A prompt of the critic, edited."""
    text = (ROOT / "triage/prompts/agents/critic.md").read_text()
    path = tmp_path / "critic.md"
    path.write_text(f"Be brief.\n{text}")
    return path


def test_a_worker_is_given_the_prompt_that_the_variant_names(file):
    toolbox = team_of(a_variant(supervisor="v3", critic=str(file)), replay_clients()).toolbox

    system, human = (message.prompt.template for message in prompt_of("critic", toolbox).messages)
    assert (system.partition("\n")[0], human) == ("Be brief.", load_agent_prompt("critic")[1])
    assert prompt_of("writer_report", toolbox) == prompt_of("writer_report", team_of(V3, replay_clients()).toolbox)


V3 = Variant(name="v3", prompt="v3")


def test_the_routers_prompt_is_named_the_same_way():
    named, usual = describe(a_variant(supervisor="v3"), ROOT), describe(V3, ROOT)

    assert named.model_copy(update={"variant": usual.variant}) == usual


def test_a_prompt_of_a_worker_is_part_of_the_text_and_of_the_digest(file):
    usual, named = describe(V3, ROOT), describe(a_variant(supervisor="v3", critic=str(file)), ROOT)

    assert named.prompt_digest != usual.prompt_digest
    assert "# triage/prompts/agents/critic.md\n\nBe brief." in named.prompt_text
    assert named.prompt_version == "v3 critic critic.md"


def test_the_committed_text_of_a_worker_is_that_of_the_graph():
    named = describe(a_variant(supervisor="v3", critic="git:HEAD"), ROOT)

    assert (ROOT / "triage/prompts/agents/critic.md").read_text() in named.prompt_text


@pytest.mark.parametrize(
    ("prompts", "says"),
    [
        (
            {"supervisor": "v3", "critik": "v1"},
            "'critik' among the prompt files; did you mean 'critic'?",
        ),
        ({"supervisor": "v3", "agents": "critic"}, "there is no prompt 'agents'"),
        ({"supervisor": "v99"}, "prompt 'supervisor' has no version 'v99'; it has plan-v1"),
        ({"critic": "git:HEAD"}, "supervisor 'llm' needs a prompt"),
    ],
)
def test_what_is_named_wrongly_is_one_line(prompts, says):
    with pytest.raises(ConfigurationError, match=r"^variant mine: ") as raised:
        describe(a_variant(**prompts), ROOT)

    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_routers_prompt_is_named_once():
    with pytest.raises(ConfigurationError, match=r"`prompt` and `prompts: supervisor`"):
        describe(Variant(name="mine", prompt="v3", prompts={"supervisor": "v2"}), ROOT)

"""Prompt files: what they hold, what is rendered into them, what names a version, and what is refused."""

import pytest

from triage.errors import PromptError
from triage.prompts import load
from triage.prompts.load import load_agent_prompt, load_supervisor_prompt, parse_supervisor_prompt
from triage.state import NODES, WORKERS, ConfidenceFloor


def a_prompt_file(
    system: str = "You lead.",
    task: str = "Choose.",
    front: str = "version: t\nparent: v1\ndate: 2026-11-21\nchanges: A test.\n",
    mark: str = "<!-- task -->",
) -> str:
    return f"---\n{front}---\n{system}\n{mark}\n{task}\n"


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_every_version_knows_itself_and_every_agent(version):
    prompt = load_supervisor_prompt(version)

    assert prompt.version == version
    assert all(worker in prompt.system for worker in WORKERS)
    assert all(node in prompt.task for node in NODES)


def test_the_registrys_prompt_knows_every_agent_and_the_shape_of_the_reply():
    prompt = load_supervisor_prompt("v4")

    assert (prompt.parent, prompt.supervisor) == ("v3", "registry")
    assert all(f'"{worker}": {{' in prompt.system for worker in WORKERS)
    assert all(f'"{member}"' in prompt.task for member in ("reasoning", "next_agent", "input_check"))
    assert "finished" in prompt.task


@pytest.mark.parametrize("version", ["v2", "v3"])
@pytest.mark.parametrize(
    "rule",
    [
        "Always the first",
        "At most twice",
        "cryptic error",
        "third-party",
        "wastes an iteration",
        "equally plausible",
        "no tool can fetch",
        "Never while",
        "At most 2 questions",
        "2-3 concrete options",
        "confidence 0.70 or more with at least 2 findings",
        "confidence 0.85 or more with a single",
        "iteration limit",
        "Below confidence 0.70",
    ],
)
def test_a_full_version_states_every_rule(version, rule):
    assert rule in load_supervisor_prompt(version).system


def test_only_the_third_version_shows_the_critic_and_has_a_stop_rule():
    shown = [load_supervisor_prompt(v).shows_critic for v in ("v1", "v2", "v3")]

    assert shown == [False, False, True]
    assert "Stop rule" in load_supervisor_prompt("v3").system


def test_thresholds_are_rendered_in():
    prompt = load_supervisor_prompt("v2", ConfidenceFloor(single=0.9, corroborated=0.6, min_findings=3))

    assert "confidence 0.60 or more with at least 3 findings" in prompt.system
    assert "confidence 0.90 or more" in prompt.system


def test_json_in_a_prompt_is_left_alone():
    prompt = parse_supervisor_prompt(a_prompt_file(task='Reply {"next_node": "writer"} or {{single}}.'), "t.md")

    assert prompt.task == 'Reply {"next_node": "writer"} or {{single}}.'


def test_an_unknown_placeholder_is_named():
    with pytest.raises(PromptError, match=r"t\.md: unknown placeholder \{max_question\}; known are .*max_questions"):
        parse_supervisor_prompt(a_prompt_file("Ask {max_question} times."), "t.md")


def test_a_prompt_may_be_any_markdown_file(tmp_path):
    path = tmp_path / "mine.md"
    path.write_text(a_prompt_file())

    assert load_supervisor_prompt(path).version == "t"
    assert load_supervisor_prompt(str(path)).system == "You lead."


def test_a_version_brings_its_own_versions_of_workers_prompts():
    prompt = load_supervisor_prompt("v6")

    assert set(prompt.agent_texts) == {"writer_report", "writer_comment"}
    assert "CRITICAL: people can see" in prompt.agent_texts["writer_report"]
    assert load_supervisor_prompt("v5").agent_texts == {}


def test_a_worker_prompts_edit_changes_the_digest_at_once(tmp_path, monkeypatch):
    version = tmp_path / "agents" / "critic" / "v7.md"
    version.parent.mkdir(parents=True)
    monkeypatch.setattr(load, "HERE", tmp_path)
    text = a_prompt_file(front="version: t\nparent: v1\ndate: 2026-11-21\nchanges: c\nagents: {critic: v7}\n")
    digests = []
    for edit in ("Be kind.", "Be strict."):
        version.write_text(edit)
        digests.append(parse_supervisor_prompt(text, "t.md").digest)

    assert len(set(digests)) == 2


def test_a_workers_version_that_does_not_exist_is_named():
    text = a_prompt_file(front="version: t\nparent: v1\ndate: 2026-11-21\nchanges: c\nagents: {critic: v7}\n")

    with pytest.raises(PromptError, match=r"t\.md: front matter, agents: prompts/agents/critic/v7\.md: no such file"):
        parse_supervisor_prompt(text, "t.md")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("You lead.", "start the file with front matter"),
        (a_prompt_file(front="version: [t\n"), "front matter is not YAML"),
        (a_prompt_file(front="version: t\n"), "front matter, parent: Field required"),
        (a_prompt_file(front="version: t\nparent: null\ndate: 2026-11-21\nchanges: c\nmood: good\n"), "mood"),
        (a_prompt_file(front="version: t\nparent: null\ndate: 2026-11-21\nchanges: c\ncontext: [moon]\n"), "context"),
        (a_prompt_file(mark=""), "exactly one line <!-- task -->"),
        (a_prompt_file(task="<!-- task -->\nChoose."), "exactly one line <!-- task -->"),
        (a_prompt_file(task=""), "exactly one line <!-- task -->"),
    ],
)
def test_a_broken_file_is_refused_by_name(text, said):
    with pytest.raises(PromptError, match=f"^t.md: .*{said}"):
        parse_supervisor_prompt(text, "t.md")


@pytest.mark.parametrize(
    "edit",
    [
        a_prompt_file(system="You lead well."),
        a_prompt_file(task="Choose well."),
        a_prompt_file(front="version: t\nparent: v1\ndate: 2026-11-21\nchanges: A test.\ncontext: [critic]\n"),
    ],
)
def test_whatever_reaches_the_model_changes_the_digest(edit):
    before, after = parse_supervisor_prompt(a_prompt_file(), "t.md"), parse_supervisor_prompt(edit, "t.md")

    assert before.digest != after.digest


def test_what_does_not_reach_the_model_leaves_the_digest():
    noted = a_prompt_file(front="version: t2\nparent: t\ndate: 2026-11-22\nchanges: Reworded.\n")

    assert parse_supervisor_prompt(noted, "a").digest == parse_supervisor_prompt(a_prompt_file(), "b").digest


def test_every_worker_prompt_has_two_halves():
    for name in ("investigator", "codebase_search", "critic"):
        system, human = load_agent_prompt(name)

        assert system
        assert "{" in human


def test_a_missing_worker_prompt_is_named():
    with pytest.raises(PromptError, match=r"prompts/agents/gardener\.md: no such file"):
        load_agent_prompt("gardener")

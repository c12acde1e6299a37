"""A team is put together once, and keeps nothing of a trial."""

import asyncio
from pathlib import Path

import pytest

from evals.cassettes.calls_and_misses import Ledger
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.player import Tape
from evals.models.suite import Models, Variant
from evals.shortcut_switch import SWITCH
from evals.triage.graph_trial import CaseTarget, IndexedCode, run_trial
from evals.triage.trial_clients import Clients, replay_clients
from evals.triage.variant_graph import Team, team_of
from tests.builders.case import a_case, a_point
from tests.builders.endpoint import a_team, some_clients
from tests.builders.recorded import recorded_trial
from tests.builders.repository import HashEmbedder, an_index

PROMPT = """---
version: mine
parent: null
date: 2026-01-01
changes: it is mine
context: []
---
You decide. {words}
<!-- task -->
Decide.
"""


def a_variant(prompt: str = "v1", **more) -> Variant:
    return Variant(name="v", prompt=prompt, models=Models(default="m", fallback="m"), **more)


def live() -> Clients:
    doors = some_clients(a_team("writer"))
    return Clients(doors.openai, doors.openai_async, doors.tavily_async)


def test_a_prompt_file_that_changed_makes_another_team(tmp_path):
    path = tmp_path / "mine.md"
    teams: list[Team] = []
    for words in ("Wisely.", "Quickly."):
        path.write_text(PROMPT.replace("{words}", words), encoding="utf-8")
        teams.append(team_of(a_variant(str(path)), replay_clients()))

    assert "Quickly" in teams[1].configuration.needed_prompt.system
    assert "Wisely" in teams[0].configuration.needed_prompt.system


def test_live_clients_get_a_team_of_their_own():
    """It belongs to their event loop."""
    clients = live()

    assert team_of(a_variant(), clients) is not team_of(a_variant(), clients)


async def test_closing_lasting_clients_leaves_them_open():
    await replay_clients().close()

    assert not replay_clients().openai_async.is_closed


def test_the_switch_leaves_only_the_plain_path(monkeypatch):
    monkeypatch.setenv(SWITCH, "1")

    assert not replay_clients().lasting
    assert "with_raw_response" not in vars(chat_of(replay_clients()))


def chat_of(clients: Clients) -> object:
    """The SDK's completions behind the supervisor's model."""
    return team_of(a_variant(), clients).toolbox.models.chat("supervisor").root_async_client.chat.completions


@pytest.fixture
async def recording(tmp_path):
    """A trial recorded over a shop: its case, trace and interactions."""
    return await recorded_trial(a_variant(), an_index(tmp_path / "recorded"), a_case(decision_points=[a_point()]))


async def replayed(index, case, interactions):
    subject = CaseTarget.of(a_variant(), replay_clients(), IndexedCode(index, HashEmbedder()))  # type: ignore[arg-type]
    return await run_trial(subject, case, Tape(Cassette(Path("case.yaml"), interactions), Ledger()))


async def test_trials_side_by_side_share_a_team_and_nothing_else(tmp_path, recording):
    """One searches the shop it was recorded over, the other a tree without a file: its requests are not on tape."""
    case, trace, interactions = recording
    shop, nothing = an_index(tmp_path / "shop"), an_index(tmp_path / "none", {"a.py": "x = 1\n"})
    traces = await asyncio.gather(*(replayed(index, case, interactions) for index in (shop, nothing, shop)))

    assert [one.provenance.label for one in traces] == ["exact", "frontier", "exact"]
    assert traces[0] == traces[2] == trace


def test_one_team_serves_event_loop_after_event_loop(tmp_path):
    """A miss too, which goes through the SDK's client."""
    index = an_index(tmp_path)
    labels = [asyncio.run(replayed(index, a_case(), [])).provenance.label for _ in range(2)]

    assert labels == ["unrecorded", "unrecorded"]


async def test_nothing_is_left_of_a_trial(tmp_path, recording):
    case, _, interactions = recording
    await replayed(an_index(tmp_path / "shop"), case, interactions)

    assert not team_of(a_variant(), replay_clients()).graph.checkpointer.storage

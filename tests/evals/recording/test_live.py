"""The replay proof in words: where two traces part. (That a real recording is proven is shown in tests/whole.)"""

import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from evals.cassettes.cassette_files import load, merge_write
from evals.cassettes.recorder import Recorder
from evals.errors import RecordingError
from evals.models.trace import Miss
from evals.recording.endpoint import Endpoint, OpenAIWire
from evals.recording.recording_session import RecordingSession, difference, discard_staging
from evals.workspace import Workspace
from tests.builders.case import a_case
from tests.builders.facts import a_variant
from tests.builders.interaction import an_interaction
from tests.builders.trace import a_trace

RECORDED = a_trace("investigator", "writer")
MISSED = Miss(key="k", agent="critic", method="POST", path="/v1/chat/completions", model="m", decision=1)
PARTINGS = {
    "route": (a_trace("investigator", "critic"), "route investigator writer became investigator critic"),
    "miss": (a_trace("investigator", misses=(MISSED,)), "a request by critic is not recorded"),
    "words": (a_trace("investigator", "writer", comment="other", topology="x"), "topology, output differ"),
}


@pytest.mark.parametrize(("replayed", "said"), PARTINGS.values(), ids=PARTINGS.keys())
def test_a_failed_proof_says_where_the_traces_part(replayed, said):
    """A miss comes before the route it cut short: it is the cause."""
    assert difference(RECORDED, replayed) == said


@pytest.mark.parametrize(
    "missed", [{"misses": (MISSED,), "provenance": "frontier", "frontier": 1}, {"point_misses": (MISSED,)}]
)
async def test_a_trial_that_missed_something_is_never_accepted(tmp_path, missed):
    """It would miss the same in its replay, and two equal holes would count as a proof."""

    async def with_a_hole(*_, **__):
        return a_trace("investigator", **missed)

    trials = SimpleNamespace(run=with_a_hole)  # only a mistake in the wiring of clients could do this
    nobody = Endpoint("http://127.0.0.1:9", "")
    recorder = Recorder(lambda: datetime.now(UTC), time.monotonic)
    session = RecordingSession(Workspace(tmp_path, tmp_path / "datasets"), recorder, OpenAIWire(nobody), nobody, 1)

    with pytest.raises(RecordingError, match="a request by critic"):
        await session.record(a_case(), a_variant("v3").variant, 0, trials)


def test_staged_answers_that_nobody_accepted_yet_are_kept(tmp_path):
    """Another variant of the case may be waiting for them."""
    workspace = Workspace(tmp_path, tmp_path / "datasets")
    staging = tmp_path / ".cache" / "recording" / "c.yaml"
    merge_write(staging, [an_interaction("accepted"), an_interaction("waiting")])
    merge_write(workspace.cassette("c"), [an_interaction("accepted")])

    discard_staging(workspace, "c")

    assert len(load(staging).interactions) == 2


def test_staged_answers_that_are_all_accepted_are_dropped(tmp_path):
    workspace = Workspace(tmp_path, tmp_path / "datasets")
    staging = tmp_path / ".cache" / "recording" / "c.yaml"
    for path in (staging, workspace.cassette("c")):
        merge_write(path, [an_interaction("accepted")])

    discard_staging(workspace, "c")

    assert not staging.exists()

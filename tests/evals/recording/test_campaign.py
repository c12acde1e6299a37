"""Trials side by side: no more under way than allowed, one failure costs one trial, and an end when told so."""

import asyncio
from typing import Any

import pytest

from evals.cassettes.recorder import StopSignal
from evals.errors import DatasetError, RecordingError, RecordingStoppedError
from evals.recording.recording_session import RecordedTrial, TrialCounts, record_trials
from tests.builders.case import a_case
from tests.builders.facts import a_variant
from tests.builders.trace import a_trace

CASES = [a_case(case_id) for case_id in ("one", "two", "three")]
VARIANTS = [a_variant(name).variant for name in ("v1", "v2")]
DONE = RecordedTrial(a_trace(), asked=1, reused=0)


class ASession:
    """Stands for `Session`: every trial takes a moment, and ends as told."""

    def __init__(self, *outcomes: RecordedTrial | RecordingError) -> None:
        self.outcomes = list(outcomes)
        self.under_way = self.most = 0
        self.begun: list[str] = []
        self.closed: dict[str, bool] = {}

    async def record(self, case: Any, variant: Any, sample: int, subject_of: Any) -> RecordedTrial:
        self.begun.append(f"{case.id} {variant.name} {sample}")
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.001)
        self.under_way -= 1
        outcome = self.outcomes.pop(0) if self.outcomes else DONE
        if isinstance(outcome, RecordingError):
            raise outcome
        return outcome

    async def close_case(self, case_id: str, *, whole: bool) -> None:
        self.closed[case_id] = whole


async def recorded(
    session: ASession, *, at_once: int = 2, stop: StopSignal | None = None, samples: int = 1, **more
) -> TrialCounts:
    told = {"open_case": lambda _: None, "close_case": lambda _: None, "told": lambda *_: None, **more}
    return await record_trials(session, CASES, VARIANTS, samples, at_once=at_once, stop=stop or StopSignal(), **told)


@pytest.mark.parametrize("at_once", [1, 3, 8])
async def test_no_more_trials_are_under_way_than_allowed(at_once):
    session = ASession()
    await recorded(session, at_once=at_once)

    assert session.most == min(at_once, 6)


async def test_a_trial_that_fails_leaves_the_others_alone():
    session = ASession(DONE, RecordingError("down"))

    assert await recorded(session) == TrialCounts(planned=6, proven=5, failed=1)
    assert session.closed == {"one": False, "two": True, "three": True}


async def test_a_stop_begins_nothing_more_and_leaves_no_case_half_closed():
    stop, session = StopSignal(), ASession()

    def told(*_: object) -> None:
        stop.set(RecordingStoppedError("enough"))

    assert await recorded(session, at_once=1, stop=stop, told=told) == TrialCounts(planned=6, proven=1, failed=0)
    assert session.closed == {"one": False}


async def test_a_case_that_cannot_be_opened_ends_it_when_trials_under_way_are_over():
    session = ASession()

    def open_case(case: Any) -> object:
        if case.id == "two":
            raise DatasetError("bug.patch does not apply")
        return object()

    with pytest.raises(DatasetError, match=r"bug\.patch"):
        await recorded(session, at_once=8, open_case=open_case)
    assert session.closed == {"one": True, "two": False}
    assert session.under_way == 0


async def test_a_case_that_cannot_be_closed_lets_the_others_come_to_their_end():
    session = ASession()

    async def close_case(case_id: str, *, whole: bool) -> None:
        session.closed[case_id] = whole
        if case_id == "one":
            raise RecordingError("the disk is full")

    session.close_case = close_case
    with pytest.raises(RecordingError, match="disk"):
        await recorded(session, at_once=2)
    assert session.closed == {"one": True, "two": True, "three": True}


async def test_a_case_is_opened_once_and_only_when_its_turn_comes():
    opened: list[tuple[str, int]] = []
    session = ASession()
    await recorded(session, at_once=1, open_case=lambda case: opened.append((case.id, len(session.begun))) or object())

    assert opened == [("one", 0), ("two", 2), ("three", 4)]


async def test_a_skipped_trial_is_neither_recorded_nor_forgotten():
    """It counts as proven, and its case as whole."""
    session = ASession()
    found = await recorded(session, skip={("one", "v1", 0), ("one", "v2", 0), ("two", "v1", 0)})

    assert found == TrialCounts(planned=6, proven=6, failed=0)
    assert sorted(session.begun) == ["three v1 0", "three v2 0", "two v2 0"]
    assert session.closed == {"one": True, "two": True, "three": True}


async def test_the_code_of_a_case_is_given_back_when_its_trials_are_over():
    closed = []
    await recorded(ASession(), close_case=lambda case: closed.append(case.id))

    assert sorted(closed) == ["one", "three", "two"]

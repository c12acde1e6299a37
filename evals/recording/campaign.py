"""All trials of a suite, as many under way at once as there may be requests in flight.

Cases are opened one after the other, so that no more code is indexed at a time than is being worked on. What is on tape
in the end does not depend on who came first: equal requests are asked once, and a cassette has one order.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from evals.cassette.stop import Stop
from evals.errors import EvalsError
from evals.models.case import Case
from evals.models.suite import Variant
from evals.recording.live import Recorded, Session, SubjectOf
from evals.runner.pool import TrialId

Outcome = Recorded | EvalsError
Open = Callable[[Case], SubjectOf]
"""Makes a case's code ready, and gives what builds a variant on it."""
Close = Callable[[Case], None]
"""Gives that code's memory back."""


class Told(Protocol):
    """Hears of every trial that is over."""

    def __call__(self, case: Case, variant: Variant, sample: int, outcome: Outcome) -> None:
        """Proven, or why not."""


@dataclass(frozen=True)
class Tally:
    """Trials planned, proven (before or now) and failed; the rest was not begun."""

    planned: int
    proven: int
    failed: int


async def record_trials(
    session: Session,
    cases: Sequence[Case],
    variants: Sequence[Variant],
    samples: int,
    *,
    at_once: int,
    stop: Stop,
    open_case: Open,
    close_case: Close,
    told: Told,
    on_tape: Collection[TrialId] = (),
) -> Tally:
    """Record every trial but those `on_tape`, which were proven before; one that fails leaves the others alone, a stop
    lets those under way come to their end.

    Raises:
        EvalsError: a case could not be opened or closed. Trials under way come to their end before: their answers are
            paid for.
    """
    gate = asyncio.Semaphore(at_once)

    async def trial(case: Case, variant: Variant, sample: int, subject_of: SubjectOf) -> Outcome:
        outcome: Outcome
        try:
            outcome = await session.record(case, variant, sample, subject_of)
        except EvalsError as error:
            outcome = error
        finally:
            gate.release()
        told(case, variant, sample, outcome)
        return outcome

    def left(case: Case) -> list[tuple[Variant, int]]:
        """The trials of a case that are not proven yet."""
        every = product(variants, range(samples))
        return [(variant, sample) for variant, sample in every if (case.id, variant.name, sample) not in on_tape]

    async def closed(case: Case, trials: Sequence["asyncio.Task[Outcome]"]) -> list[Outcome]:
        outcomes = list(await asyncio.gather(*trials))
        close_case(case)
        whole = len(outcomes) == len(left(case)) and all(isinstance(each, Recorded) for each in outcomes)
        await session.close_case(case.id, whole=whole)
        return outcomes

    closing, unopened = [], None
    for case in cases:
        subject_of, trials = None, []
        for variant, sample in left(case):
            await gate.acquire()
            if stop.reason:
                gate.release()
                break
            try:
                subject_of = subject_of or open_case(case)
            except EvalsError as error:
                gate.release()
                unopened = error
                break
            trials.append(asyncio.create_task(trial(case, variant, sample, subject_of)))
        closing.append(asyncio.create_task(closed(case, trials)))
        if stop.reason or unopened:
            break
    outcomes = _outcomes(await asyncio.gather(*closing, return_exceptions=True), unopened)
    planned, begun = len(cases) * len(variants) * samples, sum(len(left(case)) for case in cases)
    proven = sum(isinstance(outcome, Recorded) for outcome in outcomes)
    return Tally(planned, planned - begun + proven, len(outcomes) - proven)


def _outcomes(ended: Sequence[list[Outcome] | BaseException], unopened: EvalsError | None) -> list[Outcome]:
    """Of all cases, now that everything is over. Raises what kept a case from being opened or closed."""
    outcomes = []
    for case_outcomes in (*ended, *([unopened] if unopened else [])):
        if isinstance(case_outcomes, BaseException):
            raise case_outcomes
        outcomes += case_outcomes
    return outcomes

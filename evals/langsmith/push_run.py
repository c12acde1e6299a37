"""A run as experiments, one a variant: what is there already is not sent again, however an earlier upload ended."""

import asyncio
import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from evals.langsmith.experiment import Clock, VariantRun, need_experiment
from evals.langsmith.feedback import feedback_of
from evals.langsmith.identity import example_id
from evals.langsmith.service import Service, id_of
from evals.langsmith.span import Experiment, Span
from evals.langsmith.tree import Recorded, nothing_recorded, tree_of
from evals.models.run import CaseInfo, Run, Trial

TOGETHER: Final = 10
"""Trials of one round: as many are sent again at most after a cut connection."""
_PAGE: Final = 1000
_LONGEST: Final = dt.timedelta(days=7)
_NOWHERE: Final = Experiment(UUID(int=0), dt.datetime(2000, 1, 1, tzinfo=dt.UTC))
RecordedOf = Callable[[Trial], Recorded]
Progress = Callable[[str, int, int], None]
"""Hears the experiment, how many of its trials are there, and of how many."""


@dataclass(frozen=True)
class Sent:
    """What one experiment took: trials in all, and runs and scores that were new. `end` is when its last trial ends."""

    name: str
    trials: int
    runs: int
    scores: int
    end: dt.datetime


def weigh(run: Run, trial: Trial, case: CaseInfo, recorded: Recorded = nothing_recorded) -> tuple[Span, list[Any]]:
    """The tree and the feedback of a trial as they would be sent, but for ids and times."""
    root = tree_of(trial, case, _NOWHERE, None, recorded)
    return root, list(feedback_of(run, trial, case, root))


def push_variants(
    service: Service,
    variants: Sequence[VariantRun],
    dataset: UUID,
    recorded: RecordedOf,
    now: Clock,
    say: Progress = lambda _name, _done, _of: None,
) -> Iterator[Sent]:
    """Send the variants one after the other, each with its trials, their trees and their scores.

    Raises:
        ServiceError: not all was taken; what was taken stays, and the same call goes on from there.
    """
    places = [(each, *need_experiment(service, each, dataset, now)) for each in variants]
    unfinished = [experiment for _, experiment, session in places if session.end_time is None]
    runs = asyncio.run(_runs_there(service, unfinished))
    for wanted, experiment, session in places:
        if session.end_time is not None:
            yield Sent(wanted.name, len(wanted.trials), 0, 0, session.end_time)
            continue
        sender = _Sender(service, wanted, experiment, dataset, frozenset(runs[experiment.id]))
        sent = sender.send(recorded, say)
        with service.doing(f"closing experiment {wanted.name}"):  # which says that it is whole
            service.client.update_project(experiment.id, metadata=session.metadata, end_time=sent.end)
        yield sent


@dataclass(frozen=True)
class _Sender:
    service: Service
    wanted: VariantRun
    experiment: Experiment
    dataset: UUID
    there: frozenset[UUID]

    def send(self, recorded: RecordedOf, say: Progress) -> Sent:
        """All trials, some at a time."""
        trials, runs, scores, end = self.wanted.trials, 0, 0, self.experiment.begun
        for at in range(0, len(trials), TOGETHER):
            some = trials[at : at + TOGETHER]
            roots = [self._tree(trial, case, recorded(trial)) for trial, case in some]
            runs += self._send_runs(roots)
            rows = [
                row
                for (trial, case), root in zip(some, roots, strict=True)
                for row in feedback_of(self.wanted.run, trial, case, root)
            ]
            scores += self._send_scores(roots, rows)
            end = max(end, *(root.end for root in roots))
            say(self.wanted.name, at + len(some), len(trials))
        return Sent(self.wanted.name, len(trials), runs, scores, end)

    def _tree(self, trial: Trial, case: CaseInfo, recorded: Recorded) -> Span:
        return tree_of(trial, case, self.experiment, example_id(self.dataset, case.id), recorded)

    def _send_runs(self, roots: Sequence[Span]) -> int:
        rows = [span.sent() for root in roots for span in root.all() if span.id not in self.there]
        if rows:
            self.service.send_runs(rows)
        return len(rows)

    def _send_scores(self, roots: Sequence[Span], rows: Sequence[Mapping[str, Any]]) -> int:
        there = self._scores_there([root.id for root in roots if root.id in self.there])
        lacking = [row for row in rows if row["feedback_id"] not in there]
        if lacking:
            self.service.send_feedback(lacking)
        return len(lacking)

    def _scores_there(self, runs: Sequence[UUID]) -> frozenset[str]:
        """The feedback that runs have which were there before; new ones have none."""
        if not runs:
            return frozenset()
        with self.service.doing("listing the scores"):
            return frozenset(str(row.id) for row in self.service.client.list_feedback(run_ids=list(runs)))


async def _runs_there(service: Service, experiments: Sequence[Experiment]) -> dict[UUID, list[UUID]]:
    """The runs that each experiment has."""
    found: dict[UUID, list[UUID]] = {}
    with service.doing("listing the runs"):
        for one in experiments:
            pages = service.client.runs.query(
                project_ids=[str(one.id)],
                min_start_time=one.begun,
                max_start_time=one.begun + _LONGEST,  # "until now", if not given: a recorded trial may last longer
                selects=["ID"],
                page_size=_PAGE,
            )
            found[one.id] = [id_of(run.id) async for run in pages]
    return found

"""A stored run as LangSmith experiments."""

import asyncio
import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from langsmith.schemas import TracerSession
from langsmith.utils import LangSmithConflictError, LangSmithNotFoundError

from evals.application_pack import load_pack
from evals.content_cache import digest_of
from evals.errors import ServiceError
from evals.langsmith.langsmith_client import Service, id_of
from evals.langsmith.trial_runs import (
    Experiment,
    LangSmithSpan,
    Recorded,
    example_id,
    feedback_id,
    nothing_recorded,
    tree_of,
)
from evals.llm_judge.grade_statistics import value
from evals.models.judge import JudgedRun
from evals.models.metrics import Failed, Outcome, Scored
from evals.models.run import CaseInfo, Run, Trial, VariantInfo
from evals.report.junit_xml import broken
from evals.report.view.trial_explanation import state_sentences
from evals.report.view.violations_table import reason_of

SOURCE: Final = {"sent_by": "evals langsmith push"}
"""Marks what is ours: what people say is pulled back, this is not."""


def feedback_of(run: Run, trial: Trial, case: CaseInfo, root: LangSmithSpan) -> Iterator[dict[str, Any]]:
    """What every scorer says of a trial, as `create_feedback` takes it. A score that does not apply is none."""
    for key, outcome in trial.outcomes.items():
        if not isinstance(outcome, Scored | Failed):
            continue
        yield {**_about(root, key), **_said(outcome), "comment": _comment(run, trial, case, key, outcome)}
    for question, grade in (run.grades_of(trial.trace) if isinstance(run, JudgedRun) else {}).items():
        comment = " ".join((grade.reason, *(f"“{quote}”" for quote in grade.quotes)))
        yield {**_about(root, f"judge.{question}"), **_place(run, question, grade.grade), "comment": comment}


def _about(root: LangSmithSpan, key: str) -> dict[str, Any]:
    return {
        "key": key,
        "run_id": str(root.id),
        "trace_id": str(root.id),
        "session_id": str(root.experiment.id),
        "start_time": root.start,
        "feedback_id": str(feedback_id(root.id, key)),
        "source_info": dict(SOURCE),
    }


def _said(outcome: Scored | Failed) -> dict[str, Any]:
    return {"score": outcome.value} if isinstance(outcome, Scored) else {"error": True}


def _comment(run: Run, trial: Trial, case: CaseInfo, key: str, outcome: Outcome) -> str | None:
    """The sentences that explain a score; None where its definition says it all."""
    if isinstance(outcome, Failed):
        return outcome.error
    return " ".join(f"{sentence.rstrip('.')}." for sentence in _sentences(run, trial, case, key)) or None


def _sentences(run: Run, trial: Trial, case: CaseInfo, key: str) -> Iterator[str]:
    trace = trial.trace
    if key == "route.pass" and (why := reason_of(trial, case)):
        yield why
    if why := load_pack().reason(key, trace, case):
        yield why
    if key == "decision.score":
        yield from state_sentences(trace, case)
    yield from (said for said in broken(run, trace.variant, case.id) if said.startswith(f"{key} "))


def _place(run: Run, question: str, grade: str) -> dict[str, Any]:
    """A grade, and its place on the scale: 0 the worst, 1 the best."""
    scale = run.judge.scales.get(question, ()) if isinstance(run, JudgedRun) else ()
    return {"score": value(scale, grade), "value": grade} if grade in scale else {"value": grade}


BEGUN: Final = "evals_begun"
"""The member of a project's metadata that says when its trials begin."""
Clock = Callable[[], dt.datetime]


@dataclass(frozen=True)
class VariantRun:
    """One variant of a run, with its trials, each beside its case."""

    run: Run
    info: VariantInfo
    trials: Sequence[tuple[Trial, CaseInfo]]

    @property
    def name(self) -> str:
        """`suite-variant-digest`: another one as soon as anything about it differs."""
        parts = [self.info.model_dump_json(), *(trial.model_dump_json() for trial, _ in self.trials)]
        mine = [item.model_dump_json() for item in self.run.comparisons if item.left == self.info.variant.name]
        digest = digest_of(*(part.encode() for part in (*parts, *mine)))
        return f"{self.run.suite}-{self.info.variant.name}-{digest[:8]}"

    @property
    def description(self) -> str:
        """What the report says of it, in some sentences."""
        coverage = self.run.coverage[self.info.variant.name]
        rests = f"{coverage.exact} of {coverage.total} trials are on the tape"
        answered = ", ".join(self.run.recorded_by) or "nobody yet"
        return f"{self.run.description} Replayed offline: {rests}, answered by {answered}. {self.run.verdict.sentence}"

    @property
    def metadata(self) -> dict[str, Any]:
        """What experiments are compared and filtered by."""
        run, info = self.run, self.info
        variant = info.variant
        roles = {"candidate": run.candidate, "reference": run.reference}
        return {
            "suite": run.suite,
            "variant": variant.name,
            "role": ", ".join(role for role, name in roles.items() if name == variant.name) or "shown",
            **{name: variant.settings[name] for name in load_pack().usual_settings if name in variant.settings},
            "prompt_version": info.prompt_version,
            "prompt_digest": info.prompt_digest,
            "model": variant.models.default,
            "verdict": run.verdict.status,
            "verdict_sentence": run.verdict.sentence,
            "scorers_digest": run.digests.get("scorers", ""),
            "source": "evals langsmith push",
        }


def variants_of(run: Run, wanted: Sequence[str] = ()) -> Iterator[VariantRun]:
    """The variants of a run that have trials, or those of them that are wanted; without the trials of held-out cases,
    which are no examples there."""
    cases = {case.id: case for case in run.cases if case.split != "holdout"}
    shown = [trial for trial in run.trials if trial.trace.case_id in cases]
    for info in run.variants:
        name = info.variant.name
        trials = [(trial, cases[trial.trace.case_id]) for trial in shown if trial.trace.variant == name]
        if trials and (not wanted or name in wanted):
            yield VariantRun(run, info, trials)


def need_experiment(
    service: Service, wanted: VariantRun, dataset: UUID, now: Clock
) -> tuple[Experiment, TracerSession]:
    """The project of this experiment: found by its name, made if it is not there.

    Its trials begin when it was made, which is written down in it: whoever goes on after a kill gives the same times,
    and with them the same ids.
    """
    session = _found(service, wanted.name) or _made(service, wanted, dataset, now())
    begun = str(session.metadata.get(BEGUN, ""))
    if not begun:
        raise ServiceError(f"{service.url}: project {wanted.name} is there, and was not made by us; rename it")
    return Experiment(id_of(session.id), dt.datetime.fromisoformat(begun)), session


def _found(service: Service, name: str) -> TracerSession | None:
    with service.doing(f"reading experiment {name}"):
        try:
            found: TracerSession = service.client.read_project(project_name=name)
        except LangSmithNotFoundError:
            return None
    return found


def _made(service: Service, wanted: VariantRun, dataset: UUID, now: dt.datetime) -> TracerSession:
    begun = now.astimezone(dt.UTC).replace(microsecond=now.microsecond // 1000 * 1000).isoformat()
    with service.doing(f"making experiment {wanted.name}"):
        try:
            return service.client.create_project(
                wanted.name,
                description=wanted.description,
                metadata={**wanted.metadata, BEGUN: begun},
                reference_dataset_id=dataset,
                num_examples=len({case.id for _, case in wanted.trials}),
                num_repetitions=1 + max(trial.trace.sample for trial, _ in wanted.trials),
                evaluator_keys=[scorer.name for scorer in wanted.run.scorers],
            )
        except LangSmithConflictError:  # made by a request whose answer was lost
            pass
    if (session := _found(service, wanted.name)) is None:
        raise ServiceError(f"{service.url}: experiment {wanted.name} is said to be there, and is not; run this again")
    return session


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


def weigh(
    run: Run, trial: Trial, case: CaseInfo, recorded: Recorded = nothing_recorded
) -> tuple[LangSmithSpan, list[Any]]:
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

    def _tree(self, trial: Trial, case: CaseInfo, recorded: Recorded) -> LangSmithSpan:
        return tree_of(trial, case, self.experiment, example_id(self.dataset, case.id), recorded)

    def _send_runs(self, roots: Sequence[LangSmithSpan]) -> int:
        rows = [span.sent() for root in roots for span in root.all() if span.id not in self.there]
        if rows:
            self.service.send_runs(rows)
        return len(rows)

    def _send_scores(self, roots: Sequence[LangSmithSpan], rows: Sequence[Mapping[str, Any]]) -> int:
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

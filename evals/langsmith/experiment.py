"""A variant of a run as an experiment: what it is called, what it says of itself, and the trials that belong to it."""

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from langsmith.schemas import TracerSession
from langsmith.utils import LangSmithConflictError, LangSmithNotFoundError

from evals.errors import ServiceError
from evals.kept import digest_of
from evals.langsmith.service import Service, id_of
from evals.langsmith.span import Experiment
from evals.models.run import CaseInfo, Run, Trial, VariantInfo

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
            "supervisor": variant.supervisor,
            "guards": variant.guards,
            "prompt_version": info.prompt_version,
            "prompt_digest": info.prompt_digest,
            "model": variant.models.default,
            "verdict": run.verdict.status,
            "verdict_sentence": run.verdict.sentence,
            "scorers_digest": run.digests.get("scorers", ""),
            "source": "evals langsmith push-run",
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

"""Result of a run, made from scored trials: summaries, comparisons and verdict."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from evals.application_pack import load_pack
from evals.comparison import gate
from evals.comparison.baseline import FILE_READ, make_baseline
from evals.comparison.comparison_pairs import Compared, ablations, compared
from evals.comparison.gate_input import facts_of, redraws
from evals.comparison.metric_summaries import Material, coverage_of, sample_agreements, summarise
from evals.comparison.variant_metrics import (
    Measuring,
    VariantTrials,
    confusions_of,
    micro_average,
    pair_metrics,
    twins_of,
)
from evals.models.case import Case
from evals.models.metrics import Calibration
from evals.models.run import Baseline, CaseInfo, PointInfo, Run, Scope, Trial, Verdict, trial_metrics
from evals.models.suite import GatePolicy, Selection, Suite
from evals.scoring.registry import files_scored, scorer_infos

if TYPE_CHECKING:
    from evals.application_pack import Pack

DEFAULT_PROMPT: Final = "default prompt of "
"""Before a supervisor's name among a run's digests."""


def assemble(material: Material, found: Compared | None = None) -> Run:
    """Everything the report shows, with the verdict; `found` are the comparisons, where they were made before."""
    suite, trials = material.suite, material.trials
    scorers = tuple(material.metrics)
    found = found or compared(material, scorers)
    now = _as_baseline(material)
    facts = facts_of(material, now, found)
    cases = tuple(case_info(case) for case in material.cases)
    by_id = {case.id: case for case in cases}
    evidence = [VariantTrials(name, suite.reference, by_id, trials) for name in material.names]
    return Run(
        suite=suite.name,
        description=suite.description,
        candidate=suite.candidate,
        reference=suite.reference,
        gate=suite.gate,
        recorded_by=_answered_by(trials),
        cases=cases,
        variants=tuple(material.variants),
        edited_prompts=material.edited_prompts,
        scorers=scorers,
        trials=tuple(trials),
        coverage={name: coverage_of(trials, name) for name in material.names},
        summaries=summarise(trials, material.cases, material.names, scorers),
        samples=sample_agreements(trials, material.names, suite.samples, trial_metrics(scorers)),
        redraws=redraws(material, scorers),
        measure_infos=tuple(measuring.info for measuring in measures(material.pack)),
        measures=tuple(measuring.of(each) for each in evidence for measuring in measures(material.pack)),
        confusions=tuple(table for each in evidence for table in confusions_of(each)),
        calibrations=tuple(found for each in evidence for found in calibrations(each, material.pack)),
        twins=tuple(
            pair for each in evidence for endpoint in trial_metrics(scorers) for pair in twins_of(each, endpoint)
        ),
        dataset_baselines=tuple(material.dataset_baselines),
        scope=material.scope,
        differences=material.differences,
        comparisons=found.comparisons,
        divergences=found.divergences,
        as_blessed=suite.as_blessed,
        changes=found.changes,
        rule_tests=found.rules,
        ablations=ablations(
            [info.variant for info in material.variants],
            trials,
            trial_metrics(scorers),
            material.clusters,
            suite.gate,
        ),
        wants_baseline=material.wants_baseline,
        unblessed=material.unblessed,
        costs=facts.costs,
        verdict=gate.decide(facts),
        digests={
            "scorers": now.scorers,
            **{f"topology of {name}": digest for name, digest in now.topology.items()},
            **{f"{DEFAULT_PROMPT}{name}": prompt for name, prompt in material.default_prompts.items()},
            **{f"{FILE_READ}{path}": digest for path, digest in now.files_read.items()},
        },
        cassettes=dict(material.cassettes),
    )


def case_info(case: Case | CaseInfo) -> CaseInfo:
    """What the report shows of a case; of a stored run it is all there is."""
    if isinstance(case, CaseInfo):
        return case
    labels = case.known
    return CaseInfo(
        id=case.id,
        title=case.title,
        body=case.body,
        slice=labels.kind,
        split=labels.split,
        question=labels.question.policy,
        exemplars=labels.exemplars,
        cluster=case.cluster,
        digest=case.digest,
        must_pass=labels.must_pass,
        points=tuple(PointInfo(id=point.id, accept=point.accept, why=point.why) for point in labels.decision_points),
        route_spec=case.route_spec,
        labels=labels.shown(),
    )


def _answered_by(trials: Sequence[Trial]) -> tuple[str, ...]:
    """The models that answered, each with those who recorded its answers; web searches left out."""
    by_model: dict[str, set[str]] = {}
    for call in (call for trial in trials for call in trial.trace.calls if call.model):
        by_model.setdefault(call.model, set()).update([call.recorded_by] if call.recorded_by else [])
    return tuple(
        f"{model} (recorded by {', '.join(sorted(names))})" if names else model
        for model, names in sorted(by_model.items())
    )


def _named(digests: Mapping[str, str], kind: str) -> dict[str, str]:
    return {name.removeprefix(kind): digest for name, digest in digests.items() if name.startswith(kind)}


def wants_baseline(run: Run) -> bool:
    """Whether the run was to be compared with its suite's baseline; a changed suite or an ad-hoc comparison was not."""
    if run.wants_baseline is not None:
        return run.wants_baseline
    against = any(item.against == "baseline" for item in run.comparisons)
    return against or any(reason.kind == "no baseline" for reason in run.verdict.reasons)


def verdict_of(material: Material) -> Verdict:
    """The verdict alone."""
    return gate.decide(facts_of(material, _as_baseline(material), compared(material, material.metrics)))


def decide_again(run: Run, baseline: Baseline | None, policy: GatePolicy, *, record: str = "", bless: str = "") -> Run:
    """The run with its comparisons and its verdict made anew. Nothing is replayed, and no score is computed again.
    `record` and `bless` are what to type."""
    material = Material(
        suite=Suite(
            name=run.suite,
            description=run.description,
            cases=Selection(),
            models=run.variants[0].variant.models,
            variants=tuple(info.variant for info in run.variants),
            candidate=run.candidate,
            reference=run.reference,
            gate=policy,
            as_blessed=run.as_blessed,
            judge=_judge_of(run),
        ),
        cases=run.cases,
        variants=run.variants,
        edited_prompts=run.edited_prompts,
        trials=run.trials,
        scope=run.scope or Scope(cases=len(run.cases), selected=len(run.cases)),
        dataset_baselines=run.dataset_baselines,
        baseline=baseline if wants_baseline(run) else None,
        wants_baseline=wants_baseline(run),
        partial=tuple(reason.text for reason in run.verdict.reasons if reason.kind == "partial run"),
        unread_labels=tuple(reason.text for reason in run.verdict.reasons if reason.kind == "unread label"),
        record_command=record or f"make record SUITE={run.suite}",
        bless_command=bless or f".venv/bin/evals bless {run.suite}",
        scorers=run.digests.get("scorers"),
        unblessed=run.unblessed,
        differences=run.differences,
        cassettes=run.cassettes,
        metrics=run.scorers,
        default_prompts=_named(run.digests, DEFAULT_PROMPT),
        files_read=_named(run.digests, FILE_READ),
    )
    found = compared(material, run.scorers)
    facts = facts_of(material, _as_baseline(material), found)
    return run.model_copy(
        update={
            "gate": policy,
            "comparisons": found.comparisons,
            "rule_tests": found.rules,
            "costs": facts.costs,
            "divergences": found.divergences,
            "changes": found.changes,
            "verdict": gate.decide(facts),
        }
    )


def _judge_of(run: Run) -> str | None:
    """The version of the run's judge; None where it has none."""
    if type(run) is Run:
        return None
    from evals.models.judge import JudgedRun  # noqa: PLC0415 - only where there is one

    return run.judge.version if isinstance(run, JudgedRun) else None


def _as_baseline(material: Material) -> Baseline:
    """What the run would be compared with later, were it blessed. It also holds what is there now in place of the files
    that the baseline's scorers have read: one that is gone is not read any more."""
    files_read: Mapping[str, str] = material.files_read
    if not material.scorers:
        also = material.baseline.files_read if material.baseline else ()
        files_read = files_scored(material.pack or load_pack(), [case.id for case in material.cases], also)
    return make_baseline(
        material.suite.name,
        material.cases,
        material.variants,
        material.trials,
        material.scorers,
        material.cassettes,
        material.default_prompts,
        material.pack,
        files_read=files_read,
    )


READY_MADE: Final[tuple[Measuring, ...]] = (micro_average,)


def measures(pack: "Pack | None" = None) -> tuple[Measuring, ...]:
    """The metrics of a variant of a pack (of the default one if none is given): those that its modules list as
    `METRICS`, the ready-made ones that they do not list, and how often metamorphic pairs agree on each metric of a
    trial."""
    return _measures(pack or load_pack())


@cache
def _measures(pack: "Pack") -> tuple[Measuring, ...]:
    listed = tuple(metric for name in pack.variant_metrics for metric in import_module(name).METRICS)
    ready = (metric for metric in READY_MADE if metric not in listed)
    return (*listed, *ready, *pair_metrics(trial_metrics(scorer_infos(pack))))


def calibrations(evidence: VariantTrials, pack: "Pack | None" = None) -> tuple[Calibration, ...]:
    """Stated confidence of a variant's trials against what they came to; empty where the pack reads none."""
    modules = [import_module(name) for name in (pack or load_pack()).variant_metrics]
    return tuple(found for each in modules if hasattr(each, "calibrations") for found in each.calibrations(evidence))

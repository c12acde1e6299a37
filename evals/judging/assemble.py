"""From trials to a finished run: summaries, comparisons, and the gate's verdict."""

from collections.abc import Sequence
from typing import Final, get_args

from evals.judging import gate
from evals.judging.ablation import ablations
from evals.judging.baseline import make_baseline
from evals.judging.facts import facts_of
from evals.judging.material import Material
from evals.judging.measures import MEASURES
from evals.judging.measures.calibration import calibration_of
from evals.judging.measures.confusion import confusions_of
from evals.judging.measures.evidence import Evidence
from evals.judging.measures.twins import twins_of
from evals.judging.redraws import redraws
from evals.judging.sampling import sample_agreements
from evals.judging.scoring import scorer_infos
from evals.judging.sides import compared
from evals.judging.summary import coverage_of, summarise
from evals.models.case import Case, CaseFile
from evals.models.measure import Source
from evals.models.published import PublishedGold
from evals.models.run import CaseInfo, PointInfo, Run, Trial

DEFAULT_PROMPT: Final = "default prompt of "
"""Before a supervisor's name among a run's digests."""
TWIN_ENDPOINTS: Final = ("route.pass", "root_cause.hit")


def assemble(material: Material) -> Run:
    """Everything the report shows, with the verdict."""
    suite, trials = material.suite, material.trials
    scorers = scorer_infos()
    found = compared(material, scorers)
    now = make_baseline(
        suite.name,
        material.cases,
        material.variants,
        trials,
        material.scorers,
        material.cassettes,
        material.default_prompts,
    )
    cases = tuple(case_info(case) for case in material.cases)
    by_id = {case.id: case for case in cases}
    evidence = [Evidence(name, suite.reference, by_id, trials) for name in material.names]
    return Run(
        suite=suite.name,
        description=suite.description,
        candidate=suite.candidate,
        reference=suite.reference,
        gate=suite.gate,
        recorded_by=_answered_by(trials),
        cases=cases,
        variants=tuple(material.variants),
        scorers=scorers,
        trials=tuple(trials),
        coverage={name: coverage_of(trials, name) for name in material.names},
        summaries=summarise(trials, material.cases, material.names, scorers),
        samples=sample_agreements(trials, material.names, suite.samples),
        redraws=redraws(material, scorers),
        measure_infos=tuple(measuring.info for measuring in MEASURES),
        measures=tuple(measuring.of(each) for each in evidence for measuring in MEASURES),
        confusions=tuple(table for each in evidence for table in confusions_of(each)),
        calibrations=tuple(calibration_of(each, source) for each in evidence for source in get_args(Source)),
        twins=tuple(pair for each in evidence for endpoint in TWIN_ENDPOINTS for pair in twins_of(each, endpoint)),
        dataset_baselines=tuple(material.dataset_baselines),
        scope=material.scope,
        comparisons=found.comparisons,
        divergences=found.divergences,
        rule_tests=found.rules,
        ablations=ablations(
            [info.variant for info in material.variants],
            trials,
            [scorer.name for scorer in scorers if scorer.primary and not scorer.open_loop],
            {case.id: case.cluster for case in material.cases},
            suite.gate,
        ),
        wants_baseline=material.wants_baseline,
        unblessed=material.unblessed,
        verdict=gate.judge(facts_of(material, now, found)),
        digests={
            "scorers": now.scorers,
            **{f"topology of {name}": digest for name, digest in now.topology.items()},
            **{f"{DEFAULT_PROMPT}{name}": prompt for name, prompt in material.default_prompts.items()},
        },
        cassettes=dict(material.cassettes),
    )


def case_info(case: Case | CaseInfo) -> CaseInfo:
    """What the report shows of a case; of a stored run it is all there is."""
    if isinstance(case, CaseInfo):
        return case
    labels = case.labels
    return CaseInfo(
        id=case.id,
        title=case.title,
        body=case.body,
        archetype=labels.archetype,
        category=labels.category,
        severity=None if "severity" in labels.unlabelled else labels.severity,
        split=labels.split,
        question=labels.question.policy,
        root_cause=labels.root_cause,
        gold_files=labels.gold.files,
        exemplars=tuple(exemplar for way in labels.route for exemplar in way.exemplars),
        cluster=case.cluster,
        digest=case.digest,
        must_pass=labels.must_pass,
        points=tuple(PointInfo(id=point.id, accept=point.accept, why=point.why) for point in labels.decision_points),
        route_spec=case.route_spec,
        published=_published(labels),
    )


def _published(labels: CaseFile) -> PublishedGold | None:
    """The gold of a case whose source states it; a live job has only a person's word."""
    if labels.origin is None or labels.origin.source == "job" or "gold" in labels.unlabelled or not labels.gold.files:
        return None
    gold = labels.gold
    return PublishedGold(source=labels.origin.source, files=gold.files, whole_names=gold.whole_names)


def _answered_by(trials: Sequence[Trial]) -> tuple[str, ...]:
    """The models that answered, each with those who recorded its answers; web searches left out."""
    by_model: dict[str, set[str]] = {}
    for call in (call for trial in trials for call in trial.trace.calls if call.model):
        by_model.setdefault(call.model, set()).update([call.recorded_by] if call.recorded_by else [])
    return tuple(
        f"{model} (recorded by {', '.join(sorted(names))})" if names else model
        for model, names in sorted(by_model.items())
    )

"""A stored run judged again: against the baseline as it is now, and by another policy if one is given."""

from evals.judging import gate
from evals.judging.assemble import DEFAULT_PROMPT
from evals.judging.baseline import make_baseline
from evals.judging.facts import facts_of
from evals.judging.material import Material
from evals.judging.sides import compared
from evals.models.run import Baseline, Run, Scope
from evals.models.suite import GatePolicy, Selection, Suite


def wants_baseline(run: Run) -> bool:
    """Whether the run was to be held against its suite's baseline; a changed suite or an ad-hoc comparison was not."""
    if run.wants_baseline is not None:
        return run.wants_baseline
    against = any(item.against == "baseline" for item in run.comparisons)
    return against or any(reason.kind == "no baseline" for reason in run.verdict.reasons)


def judge_again(run: Run, baseline: Baseline | None, policy: GatePolicy) -> Run:
    """The run with its comparisons and its verdict made anew. Nothing is replayed, and no score is computed again."""
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
        ),
        cases=run.cases,
        variants=run.variants,
        trials=run.trials,
        scope=run.scope or Scope(cases=len(run.cases), selected=len(run.cases)),
        dataset_baselines=run.dataset_baselines,
        baseline=baseline if wants_baseline(run) else None,
        wants_baseline=wants_baseline(run),
        partial=tuple(reason.text for reason in run.verdict.reasons if reason.kind == "partial run"),
        record_command=f"make record SUITE={run.suite}",
        bless_command=f".venv/bin/evals bless {run.suite}",
        scorers=run.digests.get("scorers"),
        unblessed=run.unblessed,
        cassettes=run.cassettes,
        default_prompts={
            name.removeprefix(DEFAULT_PROMPT): prompt
            for name, prompt in run.digests.items()
            if name.startswith(DEFAULT_PROMPT)
        },
    )
    found = compared(material, run.scorers)
    now = make_baseline(
        run.suite,
        run.cases,
        run.variants,
        run.trials,
        material.scorers,
        run.cassettes,
        material.default_prompts,
    )
    verdict = gate.judge(facts_of(material, now, found))
    return run.model_copy(
        update={
            "gate": policy,
            "comparisons": found.comparisons,
            "rule_tests": found.rules,
            "divergences": found.divergences,
            "verdict": verdict,
        }
    )

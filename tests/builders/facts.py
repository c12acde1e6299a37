"""What the gate is told, and what assemble is given: all well unless the test says otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.comparison.baseline import make_baseline
from evals.comparison.gate import Facts
from evals.comparison.metric_summaries import Material
from evals.models.case import Case
from evals.models.run import Baseline, Comparison, Coverage, Scope, Trial, VariantInfo
from evals.models.suite import GatePolicy, Models, Selection, Suite, Variant
from evals.models.trace import Trace
from evals.scoring.registry import score_trials
from tests.builders.case import a_case, a_point
from tests.builders.trace import a_trace, an_answer

POLICY = GatePolicy()


def a_comparison(endpoint: str = "route.pass", **fields: Any) -> Comparison:
    """Candidate v3 against reference v2 on ten cases, nothing changed."""
    told: dict[str, Any] = {
        "left": "v3",
        "right": "v2",
        "against": "reference",
        "n": 10,
        "delta": 0.0,
        "low": 0.0,
        "high": 0.0,
        "broke": (),
        "mended": (),
        "p_value": 1.0,
        "p_holm": 1.0,
        "minimum_detectable": 0.42,
        "verdict": "inconclusive",
    }
    return Comparison.model_validate({"endpoint": endpoint, **told, **fields})


def a_coverage(exact: int = 10, **labels: int) -> Coverage:
    """Ten exact trials unless said otherwise."""
    return Coverage.model_validate({"exact": exact, "frontier": 0, "unrecorded": 0, "failed": 0, **labels})


def some_facts(*judged: Comparison, **fields: Any) -> Facts:
    """Everything recorded, nothing changed: the gate's answer is 0."""
    told: dict[str, Any] = {
        "candidate": "v3",
        "reference": "v2",
        "record_command": "make record SUITE=prompts",
        "policy": POLICY,
        "coverage": {"v3": a_coverage(), "v2": a_coverage()},
        "judged": judged or (a_comparison(),),
    }
    return Facts.model_validate({**told, **fields})


def a_variant(name: str = "v3", **fields: Any) -> VariantInfo:
    """A variant named after its prompt."""
    variant = Variant.model_validate(
        {"name": name, "prompt": name, "models": Models(default="m", fallback="m"), **fields}
    )
    return VariantInfo(
        variant=variant, prompt_version=name, prompt_digest=name, prompt_source=f"{name}.md", prompt_text=name
    )


def some_cases(count: int = 8, **fields: Any) -> list[Case]:
    """Cases with one decision point each."""
    return [a_case(f"case-{n}", points=(a_point(),), **fields) for n in range(count)]


def some_trials(cases: Sequence[Case], changed: Mapping[tuple[str, str], Trace] | None = None) -> tuple[Trial, ...]:
    """Good trials of every case under v2 and v3, some (case, variant) replaced, all scored by the real scorers."""
    traces = [
        (changed or {}).get((case.id, name)) or a_good_trace(case.id, name) for case in cases for name in ("v2", "v3")
    ]
    return score_trials({case.id: case for case in cases}, traces)


def a_good_trace(case_id: str, variant: str, *visits: str, **fields: Any) -> Trace:
    """An exact trace with its decision point answered."""
    told = {"points": (an_answer(),), "topology": "a->b", **fields}
    return a_trace(*visits, case_id=case_id, variant=variant, **told)


def a_baseline(cases: Sequence[Case], trials: Sequence[Trial]) -> Baseline:
    """What these trials would be blessed as."""
    variants = (a_variant("v2"), a_variant("v3"))
    return make_baseline("prompts", cases, variants, trials, cassettes=cassettes_of(cases))


def cassettes_of(cases: Sequence[Case], recorded: str = "once") -> dict[str, str]:
    """Case -> digest of its cassette; another word where the answers were recorded anew."""
    return {case.id: recorded for case in cases}


def some_material(cases: Sequence[Case], trials: Sequence[Trial], **fields: Any) -> Material:
    """A whole run of suite `prompts`, blessed as it is."""
    variants = (a_variant("v2"), a_variant("v3"))
    suite = Suite(
        name="prompts",
        description="",
        cases=Selection(),
        models=Models(default="m", fallback="m"),
        variants=tuple(info.variant for info in variants),
        candidate="v3",
        reference="v2",
        gate=fields.pop("policy", POLICY),
    )
    told: dict[str, Any] = {
        "baseline": a_baseline(cases, trials),
        "wants_baseline": True,
        "partial": (),
        "scope": Scope(cases=len(cases), selected=len(cases)),
        "dataset_baselines": (),
        "record_command": "make record SUITE=prompts",
        "cassettes": cassettes_of(cases),
    }
    return Material(
        bless_command="evals bless prompts",
        suite=suite,
        cases=cases,
        variants=variants,
        trials=trials,
        **{**told, **fields},
    )

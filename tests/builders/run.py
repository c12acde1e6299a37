"""Finished runs for tests, put together by hand: two variants over one case unless the test says otherwise."""

from collections.abc import Sequence
from typing import Any

from evals.models.metrics import Outcome, Scored
from evals.models.run import (
    CaseInfo,
    Comparison,
    Coverage,
    Divergence,
    EarlierPrompt,
    Reason,
    Run,
    ScorerInfo,
    Summary,
    Trial,
    VariantInfo,
    Verdict,
)
from evals.models.suite import GatePolicy, Models, Variant
from evals.models.trace import Trace
from evals.triage.variant_settings import completed
from tests.builders.trace import a_trace

CRITIC_RULE = "Ask the critic before the writer."
PRIMARY: tuple[str, ...] = ("route.pass", "root_cause.hit", "decision.score")


def a_case_info(case_id: str = "local-bug", **fields: Any) -> CaseInfo:
    """What the report shows of a case."""
    told = {
        "id": case_id,
        "title": "It crashes",
        "body": "IndexError in the worker.",
        "slice": "local_bug",
        "split": "gate",
        "question": "forbidden",
        "exemplars": (("investigator", "codebase_search", "critic", "writer"),),
        "cluster": case_id,
        "digest": "0" * 64,
    }
    labels = {"category": "code", "root_cause": "An index is off by one.", "gold": ["pkg/core.py"]}
    given = {name: fields.pop(name) for name in ("category", "severity", "root_cause", "gold") if name in fields}
    return CaseInfo.model_validate({**told, "labels": {**labels, **given}, **fields})


def a_scorer_info(name: str = "route.pass", **fields: Any) -> ScorerInfo:
    """A scorer as the report explains it; primary if it is one of the three."""
    told = {
        "unit": "fraction",
        "better": "higher",
        "primary": name in PRIMARY,
        "open_loop": name == "decision.score",
        "definition": f"What {name} means.",
    }
    return ScorerInfo.model_validate({"name": name, **told, **fields})


def a_variant_info(
    name: str = "v2", prompt_text: str = "Choose.\nOne line each.\n", committed: str = "", **fields: Any
) -> VariantInfo:
    """A variant of that prompt version; `committed` is its text before it was edited."""
    variant = completed(Variant(name=name, prompt=name, models=Models(default="a-model", fallback="a-model")))
    return VariantInfo(
        variant=variant,
        earlier=EarlierPrompt(since="committed", text=committed) if committed else None,
        **{"prompt_version": name, "prompt_digest": "1" * 64, "prompt_source": name, "prompt_text": prompt_text}
        | fields,
    )


def rules_info(name: str = "rules") -> VariantInfo:
    """A variant whose supervisor reads no prompt."""
    models = Models(default="a-model", fallback="a-model")
    return VariantInfo(variant=completed(Variant(name=name, supervisor="rules", models=models)))


def a_system_info(supervisor: str, prompt: str, text: str, **fields: Any) -> VariantInfo:
    """A variant named after its supervisor. `fields`: a `plan` and its `plan_text`."""
    info = a_variant_info(prompt, text, plan_text=fields.pop("plan_text", ""))
    return info.model_copy(
        update={"variant": info.variant.model_copy(update={"name": supervisor, "supervisor": supervisor, **fields})}
    )


def a_trial(trace: Trace | None = None, outcomes: dict[str, Outcome] | None = None, **fields: Any) -> Trial:
    """An honest trial that passes everything."""
    passed: dict[str, Outcome] = {name: Scored(value=1.0) for name in PRIMARY}
    return Trial(trace=trace or a_trace(), outcomes=passed | (outcomes or {}), **fields)


def a_summary(variant: str = "v2", scorer: str = "route.pass", hits: int | None = 1, **fields: Any) -> Summary:
    """One of one case passed, unless told otherwise."""
    told = {"n": 1, "total": 1, "mean": 1.0, "low": 0.21, "high": 1.0, "pessimistic": 1.0, "optimistic": 1.0}
    return Summary.model_validate(
        {"variant": variant, "scorer": scorer, "hits": hits, "skipped": 0, "failed": 0, **told, **fields}
    )


def a_comparison(endpoint: str = "route.pass", **fields: Any) -> Comparison:
    """No difference in one case, which proves nothing."""
    told = {
        "left": "v3",
        "right": "v2",
        "against": "reference",
        "n": 1,
        "delta": 0.0,
        "low": 0.0,
        "high": 0.0,
        "broke": (),
        "mended": (),
        "p_value": 1.0,
        "p_holm": 1.0,
        "minimum_detectable": None,
        "verdict": "inconclusive",
    }
    return Comparison.model_validate({"endpoint": endpoint, **told, **fields})


def a_divergence(case_id: str = "local-bug", **fields: Any) -> Divergence:
    """v3 goes to the writer where v2 asks the critic, at the third decision."""
    told = {"left": "v3", "right": "v2", "decision": 2, "was": "critic", "now": "writer", "what": "critic skipped"}
    return Divergence.model_validate({"case_id": case_id, **told, **fields})


def a_run_that_parts(*case_ids: str, **fields: Any) -> Run:
    """In every case v3 skips the critic that v2 asks, and fails `route.pass`; the prompt lost the rule that says so."""
    cases = case_ids or ("local-bug",)
    ways = {"v2": ("investigator", "codebase_search", "critic", "writer")}
    ways["v3"] = tuple(node for node in ways["v2"] if node != "critic")
    trials = [
        a_trial(
            a_trace(*way, case_id=case, variant=name),
            {"route.pass": Scored(value=float(name == "v2"))},
        )
        for case in cases
        for name, way in ways.items()
    ]
    told = {
        "variants": (
            a_variant_info("v2", f"Choose.\n{CRITIC_RULE}\nBe brief.\n"),
            a_variant_info("v3", "Choose.\nBe brief.\n"),
        ),
        "comparisons": (a_comparison(n=len(cases), broke=cases, delta=-1.0, divergence="critic skipped"),),
        "divergences": tuple(a_divergence(case) for case in sorted(cases)),
    }
    return a_run(*trials, **{**told, **fields})


def a_verdict(
    status: str = "not worse", exit_code: int = 0, *reasons: Reason, sentence: str = "Nothing broke."
) -> Verdict:
    """What the gate said."""
    return Verdict.model_validate({"status": status, "exit_code": exit_code, "sentence": sentence, "reasons": reasons})


def a_run(
    *trials: Trial,
    cases: Sequence[CaseInfo] = (),
    variants: Sequence[VariantInfo] = (),
    scorers: Sequence[ScorerInfo] = (),
    summaries: Sequence[Summary] | None = None,
    **fields: Any,
) -> Run:
    """A finished run. Without trials: every case passed by every variant; summaries and coverage to match."""
    infos = tuple(variants) or (a_variant_info("v2"), a_variant_info("v3", "Choose.\nOne line for each.\n"))
    names = [info.variant.name for info in infos]
    shown = (
        tuple(cases)
        or tuple(a_case_info(case) for case in dict.fromkeys(t.trace.case_id for t in trials))
        or (a_case_info(),)
    )
    done = trials or tuple(a_trial(a_trace(case_id=case.id, variant=name)) for case in shown for name in names)
    scores = tuple(scorers) or tuple(a_scorer_info(name) for name in PRIMARY)
    told = {
        "suite": "prompts",
        "description": "A few cases.",
        "candidate": names[-1],
        "reference": names[0],
        "gate": GatePolicy(),
        "recorded_by": ("a-model",),
        "comparisons": tuple(a_comparison(name) for name in PRIMARY) if len(names) > 1 else (),
        "coverage": {name: _coverage(done, name) for name in names},
        "verdict": a_verdict(),
        "digests": {"scorers": "2" * 64, "topology": "3" * 64},
    }
    return Run(
        cases=shown,
        variants=infos,
        scorers=scores,
        trials=done,
        summaries=tuple(
            summaries if summaries is not None else (a_summary(name, info.name) for name in names for info in scores)
        ),
        **{**told, **fields},
    )


def _coverage(trials: Sequence[Trial], variant: str) -> Coverage:
    labels = [trial.trace.provenance.label for trial in trials if trial.trace.variant == variant]
    return Coverage(
        **{label: labels.count(label) for label in ("exact", "frontier", "unrecorded", "failed")}  # type: ignore[arg-type]  # labels are literals
    )

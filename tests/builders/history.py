"""Histories put together by hand: two baselines of one variant on two cases unless the test says otherwise."""

from collections.abc import Sequence
from typing import Any

from evals.models.analysis_results import Blessing, Flip, History, HistoryMark, Red
from evals.models.run import Summary
from tests.builders.run import a_scorer_info, a_summary

ENDPOINTS = ("route.pass", "root_cause.hit", "decision.score")


def a_blessing(number: int = 1, mean: float | None = 0.5, **fields: Any) -> Blessing:
    """Baseline `number`."""
    told = {
        "commit": f"{number:07}" + "0" * 33,
        "date": f"2026-01-{number:02}" if number < 32 else "2026-02-01",
        "author": "Ada",
        "subject": f"Baseline {number}",
        "path": "evals/suites/baselines/prompts.json",
        "marks": (),
        "summaries": tuple(a_number("v5", endpoint, mean) for endpoint in (*ENDPOINTS, "cost.tokens")),
        "flips": (),
    }
    return Blessing.model_validate({**told, **fields})


def a_number(variant: str, scorer: str, mean: float | None) -> Summary:
    """A mean over ten cases, and an interval around it."""
    if mean is None:
        return a_summary(variant, scorer, None, n=0, total=10, mean=None, low=None, high=None)
    if scorer.startswith("cost."):
        return a_summary(variant, scorer, None, n=10, total=10, mean=1000 * mean, low=None, high=None)
    return a_summary(variant, scorer, None, n=10, total=10, mean=mean, low=mean / 2, high=(1 + mean) / 2)


def a_mark(kind: str = "prompt", text: str = "prompt of v5", **fields: Any) -> HistoryMark:
    """Something that changed."""
    return HistoryMark.model_validate({"kind": kind, "text": text, **fields})


def a_flip(case: str = "a-crash", **fields: Any) -> Flip:
    """A case that broke."""
    told = {"variant": "v5", "endpoint": "route.pass", "case": case, "was": 1.0, "now": 0.0}
    return Flip.model_validate({**told, **fields})


def a_red(case: str = "a-crash", **fields: Any) -> Red:
    """A case that is red since the second baseline."""
    told = {"case": case, "variant": "v5", "endpoint": "route.pass", "value": 0.0, "since": "0000002" + "0" * 33}
    return Red.model_validate({**told, "date": "2026-01-02", "baselines": 1, "always": False, **fields})


def a_history(*blessings: Blessing, red: Sequence[Red] = (), **fields: Any) -> History:
    """A history of the suite `prompts`, told by v5."""
    told = {
        "suite": "prompts",
        "candidate": "v5",
        "variants": ("v5",),
        "scorers": (
            *(a_scorer_info(name, macro=name == "decision.score") for name in ENDPOINTS),
            a_scorer_info("cost.tokens", unit="tokens", better="lower"),
        ),
        "blessings": blessings or (a_blessing(1), a_blessing(2)),
        "red": tuple(red),
        "now": {},
    }
    return History.model_validate({**told, **fields})

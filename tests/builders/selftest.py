"""Results of a self-test: one fault caught, nothing unlike, no false alarm, unless said otherwise."""

from typing import Any

from evals.models.analysis_results import PlantedFault, RedRate, SelfTest
from evals.statistics.intervals import rate_interval


def a_rate(
    cases: int = 64, flips: int = 0, churn: float = 0.05, red: int = 0, draws: int = 100, **fields: Any
) -> RedRate:
    """A rate with its interval."""
    low, high = (churn and rate_interval(red, draws)) or (None, None)
    told = {"cases": cases, "flips": flips, "churn": churn, "red": red, "draws": draws, "low": low, "high": high}
    return RedRate.model_validate({**told, **fields})


def a_fault(exit_code: int | None = 1, name: str = "worse prompt") -> PlantedFault:
    """A planted fault and the gate's answer to it."""
    return PlantedFault(name=name, what="A rule is deleted.", said=f"exit {exit_code}", exit_code=exit_code)


def a_selftest(**fields: Any) -> SelfTest:
    """A self-test that went well."""
    told = {
        "suite": "prompts",
        "candidate": "v3",
        "reference": "v2",
        "alpha": 0.05,
        "faults": (a_fault(),),
        "unlike": (),
        "total": 8,
        "rates": (a_rate(), a_rate(flips=8, churn=0.0, red=1, draws=1), a_rate(flips=8, red=24)),
    }
    return SelfTest.model_validate({**told, **fields})

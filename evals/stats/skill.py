"""How much of what a baseline leaves to be won was won."""


def skill(score: float, baseline: float) -> float | None:
    """(s - b) / (1 - b): 0 is no better than the baseline, 1 perfect; None where the baseline leaves nothing to win.

    The skill score of forecast verification, with 1 as the perfect score.
    """
    return (score - baseline) / (1 - baseline) if baseline < 1 else None

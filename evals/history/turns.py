"""The commit at which a case turned, per variant and endpoint: read off the flips, so that nothing has to be run."""

from collections.abc import Iterator

from evals.errors import ConfigurationError
from evals.models.history import Flip, History, Turn


def turns(history: History, case: str) -> tuple[Turn, ...]:
    """When the case last turned under each variant and on each endpoint of the last baseline.

    A pass-or-fail endpoint turns where it begins or ceases to pass, a graded one at any change.

    Raises:
        ConfigurationError: the last baseline has no score of the case.
    """
    found = tuple(
        _turn(history, variant, endpoint, case, scores[case])
        for variant, endpoints in history.now.items()
        for endpoint, scores in endpoints.items()
        if case in scores
    )
    if not found:
        raise ConfigurationError(f"{case}: the last baseline of {history.suite} has no score of such a case")
    return found


def _turn(history: History, variant: str, endpoint: str, case: str, now: float) -> Turn:
    graded = next(scorer.macro for scorer in history.scorers if scorer.name == endpoint)
    flips = [flip for flip in _flips(history, variant, endpoint, case) if graded or (flip.was < 1) != (flip.now < 1)]
    if not flips:
        return Turn(variant=variant, endpoint=endpoint, now=now, flips=0)
    flip = flips[-1]
    by = next(each for each in history.blessings if each.commit == flip.by)
    return Turn(
        variant=variant,
        endpoint=endpoint,
        now=now,
        was=flip.was,
        commit=by.commit,
        date=by.date,
        author=by.author,
        subject=by.subject,
        marks=by.marks,
        flips=len(flips),
    )


def _flips(history: History, variant: str, endpoint: str, case: str) -> Iterator[Flip]:
    for each in history.line:
        for flip in each.flips:
            if (flip.variant, flip.endpoint, flip.case) == (variant, endpoint, case):
                yield flip

"""The history of a suite, put together from what git has of it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evals.errors import CannotJudgeError
from evals.history.blessed import Blessed, read_blessed
from evals.history.estimate import estimates, unknown_gold
from evals.history.flips import flips_of
from evals.history.git import Repository
from evals.history.labels import Key, Labels, read_labels
from evals.history.lineage import Lineage, lineage
from evals.history.marks import marks_of, named
from evals.history.red import red_cases
from evals.models.history import Blessing, Flip, History
from evals.models.run import ScorerInfo, Summary


def tell(root: Path, suite: str, baseline: str, cases: str, scorers: Sequence[ScorerInfo]) -> History:
    """The history of `suite` in the repository around `root`.

    Args:
        root: the checkout.
        suite: its name.
        baseline: where its baseline stands today, from the root.
        cases: the folder of the labelled cases, from the root.
        scorers: what is told of each baseline: primary ones with intervals and flips, the others as means.

    Raises:
        ConfigurationError: no git, or no repository.
        CannotJudgeError: no baseline of the suite was ever committed, or git cannot tell.
    """
    repository = Repository.at(root)
    line = lineage(repository, baseline)
    if not line.found:
        raise CannotJudgeError(
            f"no baseline of {suite} in git: none was ever committed as {baseline}; bless and commit one"
        )
    blessed = read_blessed(repository, line.found, tuple(scorer.name for scorer in scorers))
    readable = [each for each in blessed if each.stored is not None]
    labels = read_labels(repository, cases, [(each.found.commit.sha, each.stored) for each in blessed if each.stored])
    summaries = iter(estimates([each.stored for each in blessed if each.stored], labels, scorers))
    endpoints = [scorer.name for scorer in scorers if scorer.primary]
    begins = repository.begins
    told = tuple(
        _blessing(blessed, each, next(summaries) if each.stored else (), flips, labels, begins)
        for each, flips in zip(blessed, flips_of(blessed, endpoints), strict=True)
    )
    trunk = [each for each in blessed if not each.found.side]
    last = trunk[-1]
    return History(
        suite=suite,
        candidate=last.settings.candidate if last.settings else "",
        variants=_variants(readable),
        scorers=tuple(scorers),
        blessings=told,
        red=red_cases(trunk, [scorer.name for scorer in scorers if scorer.primary and not scorer.macro]),
        now=_now(last, endpoints),
        missing=tuple(_missing(line, begins, uncommitted=line.gone is None and repository.uncommitted(baseline))),
    )


def _blessing(
    blessed: Sequence[Blessed],
    each: Blessed,
    summaries: tuple[Summary, ...],
    flips: tuple[Flip, ...],
    labels: Mapping[Key, Labels | None],
    begins: frozenset[str],
) -> Blessing:
    commit = each.found.commit
    before = blessed[each.found.follows] if each.found.follows is not None else None
    unknown = unknown_gold(each.stored, summaries, labels) if each.stored else []
    lacks = (
        (f"labels of {named(unknown)} are not in its commit, so that decision.score is not known",) if unknown else ()
    )
    return Blessing(
        commit=commit.sha,
        date=commit.date[:10],
        author=commit.author,
        subject=commit.subject,
        path=each.found.path,
        follows=before.found.commit.sha if before else None,
        side=each.found.side,
        here=commit.sha in begins,
        marks=marks_of(before, each) if before else (),
        summaries=summaries,
        flips=flips,
        unread=(*each.unread, *lacks),
    )


def _variants(readable: Sequence[Blessed]) -> tuple[str, ...]:
    """Those of the last baseline first, then those that went before it."""
    stored = [each.stored for each in reversed(readable) if each.stored]
    return tuple(dict.fromkeys(name for each in stored for name in each.variants))


def _now(last: Blessed, endpoints: Sequence[str]) -> dict[str, dict[str, dict[str, float]]]:
    stored = last.stored
    if stored is None:
        return {}
    return {name: {one: dict(stored.scores[name, one]) for one in endpoints} for name in stored.variants}


def _missing(line: Lineage, begins: frozenset[str], *, uncommitted: bool) -> Iterator[str]:
    if begins:
        yield (
            "This clone is shallow: baselines from before its first commits are missing. "
            "`git fetch --unshallow` brings them."
        )
    if uncommitted:
        yield "The baseline in the checkout is not committed: it is no part of this yet."
    if line.gone is not None:
        yield f"The baseline was taken away in {line.gone[:7]}; this is what it was until then."

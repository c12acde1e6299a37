"""What changed between two baselines beside the numbers: one mark per kind of change."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from evals.history.blessed import Blessed
from evals.history.stored import AnsweredBy, Stored
from evals.models.history import Mark, MarkKind

_NAMED: Final = 5


def marks_of(before: Blessed, now: Blessed) -> tuple[Mark, ...]:
    """Everything that changed from one baseline to the next; what either does not say is no change."""
    return tuple(_marks(before, now))


def _marks(before: Blessed, now: Blessed) -> Iterator[Mark]:
    if now.found.gone is not None:
        yield Mark(kind="gone", text=f"was taken away in {now.found.gone[:7]}, and blessed anew")
    if before.found.path != now.found.path:
        yield Mark(kind="renamed", text=f"{before.found.path} is now {now.found.path}")
    if before.stored is None or now.stored is None:
        yield Mark(kind="unread", text="one of the two baselines cannot be read")
    else:
        yield from _of_baselines(before.stored, now.stored)
    yield from _of_settings(before, now)


def _of_baselines(was: Stored, now: Stored) -> Iterator[Mark]:
    for verb, left in (("new", _beyond(now.variants, was.variants)), ("gone", _beyond(was.variants, now.variants))):
        if left:
            yield Mark(kind="variants", text=f"{verb}: {named(left)}", variants=left)
    if changed := _changed(was.prompts, now.prompts):
        yield Mark(kind="prompt", text=f"prompt of {named(changed)}", variants=changed)
    if changed := _changed(was.topology, now.topology):
        yield Mark(kind="graph", text=f"nodes or edges of the graph of {named(changed)}", variants=changed)
    yield from _of_answers(was.answered_by, now.answered_by)
    if changed := _changed(was.cases, now.cases):
        yield Mark(kind="labels", text=f"labels, issue or code of {named(changed)}")
    if was.cases and now.cases:
        for verb, left in (("new", _beyond(now.cases, was.cases)), ("gone", _beyond(was.cases, now.cases))):
            if left:
                yield Mark(kind="dataset", text=f"{len(left)} case{'s' * (len(left) > 1)} {verb}: {named(left)}")
    if was.scorers and now.scorers and was.scorers != now.scorers:
        yield Mark(kind="scorers", text="scorers")


def _of_answers(was: AnsweredBy, now: AnsweredBy) -> Iterator[Mark]:
    """Variants that other models answered; an agent that only one of the two asked is no change."""
    alike: dict[str, list[str]] = {}
    for name in sorted(was.keys() & now.keys()):
        if _changed(was[name], now[name]):
            before, after = _models(was[name]), _models(now[name])
            change = f"{before} → {after}" if before != after else f"{after}, for other agents or cases than before"
            alike.setdefault(change, []).append(name)
    for change, names in alike.items():
        yield Mark(kind="model", text=f"answers of {named(names)}: {change}", variants=tuple(names))


def _models(agents: Mapping[str, Mapping[str, tuple[str, ...]]]) -> str:
    return ", ".join(sorted({models for answered in agents.values() for models in answered}))


def _of_settings(before: Blessed, now: Blessed) -> Iterator[Mark]:
    if before.code is not None and now.code is not None and before.code != now.code:
        yield Mark(kind="guards", text="code of the guards")
    if before.settings is not None and now.settings is not None:
        yield from _of_variants("guards", before.settings.guards, now.settings.guards)
        yield from _of_variants("model", before.settings.models, now.settings.models)


def _of_variants(kind: MarkKind, was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Mark]:
    """Variants whose setting changed; those that changed alike are one mark."""
    alike: dict[tuple[str, str], list[str]] = {}
    for name in _changed(was, now):
        alike.setdefault((was[name], now[name]), []).append(name)
    for (old, new), names in alike.items():
        yield Mark(kind=kind, text=f"{kind} of {named(names)}: {old} → {new}", variants=tuple(names))


def named(names: Sequence[str]) -> str:
    """A few names; more are counted."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _changed(was: Mapping[str, object], now: Mapping[str, object]) -> tuple[str, ...]:
    """What both have, and have differently."""
    return tuple(sorted(name for name in was.keys() & now.keys() if was[name] != now[name]))


def _beyond(left: Iterable[str], right: Container[str]) -> tuple[str, ...]:
    """What only the left one has."""
    return tuple(name for name in left if name not in right)

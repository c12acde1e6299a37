"""Fresh answers beside recorded ones, field by field of each agent; and the decisions that turned."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evals.cassette.store import Interaction
from evals.drift.exchange import Pool, exceeds_p, shift_p
from evals.drift.meaning import CONFIDENCE, DECISION, meaning
from evals.drift.population import Recorded
from evals.drift.survey import Estimate, Seen, difference, mean_of, share
from evals.models.drift import FieldDrift, Passage, Range, Turned
from evals.stats.paired import holm

PRIMARY: Final = ("supervisor", DECISION)
"""What the verdict is planned for; it has half of alpha for itself."""

Meanings = tuple[Mapping[str, Hashable], ...]


@dataclass(frozen=True)
class Asked:
    """A drawn request with what its answers say, and how many of the population it stands for."""

    request: Recorded
    recorded: Meanings
    fresh: Meanings
    weight: float

    @classmethod
    def read(cls, request: Recorded, fresh: Sequence[Interaction], weight: float) -> "Asked":
        """The request with the meaning of every answer."""

        def said(answers: Sequence[Interaction]) -> Meanings:
            return tuple(meaning(request.agent, request.answers[0].request, each.response) for each in answers)

        return cls(request, said(request.answers), said(fresh), weight)

    def pool(self, field: str) -> Pool:
        """Its answers in one field."""
        return Pool(tuple(each[field] for each in self.recorded), tuple(each[field] for each in self.fresh))

    def numbers(self, field: str) -> tuple[list[float], list[float]]:
        """The numbers its answers state there; one that cannot be read states none."""
        recorded, fresh = (
            [each[field] for each in side if isinstance(each.get(field), float)] for side in (self.recorded, self.fresh)
        )
        return recorded, fresh  # type: ignore[return-value]  # narrowed above, which mypy does not see through `get`


def compared(asked: Sequence[Asked], alpha: float, seed: int) -> tuple[FieldDrift, ...]:
    """Every field of every agent. Decisions are tested at half of `alpha`; all others share the other half (Holm)."""
    rows: dict[tuple[str, str], list[Asked]] = {}
    for one in asked:
        for field in one.request.fields:
            rows.setdefault((one.request.agent, field), []).append(one)
    rng = np.random.default_rng(seed)
    found = {
        name: (_shifted if name[1] == CONFIDENCE else _equal)(*name, members, alpha / 2, rng)
        for name, members in sorted(rows.items(), key=lambda item: (item[0] != PRIMARY, item[0]))
    }
    others = holm({name: row.p for name, row in found.items() if name != PRIMARY and row.p is not None})
    adjusted = {**others, **({PRIMARY: found[PRIMARY].p} if PRIMARY in found else {})}
    return tuple(row.model_copy(update={"p_adjusted": adjusted.get(name)}) for name, row in found.items())


def turned(asked: Sequence[Asked]) -> tuple[Turned, ...]:
    """The decisions to which every fresh answer is another than the first recorded one; those on a way come first."""
    found = []
    for one in asked:
        if DECISION not in one.request.fields:
            continue
        pool = one.pool(DECISION)
        if pool.recorded[0] not in pool.fresh:
            found.append(
                Turned(
                    key=one.request.key,
                    recorded=_shown(pool.recorded[0]),
                    fresh=tuple(map(_shown, pool.fresh)),
                    known=any(value in pool.recorded for value in pool.fresh),
                    passages=tuple(Passage(case=c, variant=v, step=s) for c, v, s in one.request.uses),
                )
            )
    return tuple(sorted(found, key=lambda each: (not each.on_the_way, each.passages[0].case, each.key)))


def noise_of(asked: Sequence[Asked]) -> Estimate | None:
    """How much repeats of one decision differ among themselves; None where no decision has repeats."""
    found = [(one, one.pool(DECISION)) for one in asked if DECISION in one.request.fields]
    return share([Seen(pool.noise, one.weight, one.request.case) for one, pool in found if pool.told])


def _equal(agent: str, field: str, members: Sequence[Asked], level: float, _rng: np.random.Generator) -> FieldDrift:
    pools = [(one, one.pool(field)) for one in members]
    told = [(one, pool) for one, pool in pools if pool.told]
    equal = share([Seen(1 - pool.apart, one.weight, one.request.case) for one, pool in pools])
    noise = share([Seen(1 - pool.noise, one.weight, one.request.case) for one, pool in told])
    change = None if equal is None or noise is None else Range(**_named(difference(noise, equal)))
    return FieldDrift(
        agent=agent,
        field=field,
        requests=len(members),
        equal=_range(equal),
        noise=_range(noise),
        change=change,
        p=exceeds_p([pool for _, pool in told]) if told else None,
        p_adjusted=None,
        level=level,
        primary=(agent, field) == PRIMARY,
    )


def _shifted(agent: str, field: str, members: Sequence[Asked], level: float, rng: np.random.Generator) -> FieldDrift:
    pairs = [(one, one.numbers(field)) for one in members]
    whole = [(one, numbers) for one, numbers in pairs if all(numbers)]
    shifts = [Seen(float(np.mean(fresh) - np.mean(was)), one.weight, one.request.case) for one, (was, fresh) in whole]
    return FieldDrift(
        agent=agent,
        field=field,
        requests=len(whole),
        equal=None,
        noise=None,
        change=_range(mean_of(shifts)),
        p=shift_p([numbers for _, numbers in whole], rng) if whole else None,
        p_adjusted=None,
        level=level,
        primary=False,
    )


def _range(found: Estimate | None) -> Range | None:
    if found is None:
        return None
    varied = found.low < found.high
    return Range(value=found.value, low=found.low if varied else None, high=found.high if varied else None)


def _named(values: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("value", "low", "high"), values, strict=True))


def _shown(value: Hashable) -> str:
    return value if isinstance(value, str) else repr(value)

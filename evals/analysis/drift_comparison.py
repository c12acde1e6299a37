"""Compare fresh answers with recorded ones, field by field, and decide."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evals.analysis.drift_session import (
    CONFIDENCE,
    DECISION,
    Population,
    RecordedRequest,
    answers,
    in_order,
    meaning,
    of_recording,
    price_of,
    taken,
    told,
)
from evals.analysis.drift_statistics import (
    AnswerPool,
    Estimate,
    Seen,
    difference,
    exceeds_p,
    mean_of,
    needed,
    share,
    shift_p,
    wilson_at,
)
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, EXIT_WORSE
from evals.models.analysis_results import Drift, DriftVerdict, FieldDrift, Needed, Range, StratumDrawn, Turned
from evals.prices import PriceTable
from evals.shared.display_text import counted
from evals.statistics.paired_tests import holm

Meanings = tuple[Mapping[str, Hashable], ...]


@dataclass(frozen=True)
class ComparedRequest:
    """A drawn request with what its answers say, and how many of the population it stands for."""

    request: RecordedRequest
    recorded: Meanings
    fresh: Meanings
    weight: float

    @classmethod
    def read(cls, request: RecordedRequest, fresh: Sequence[Interaction], weight: float) -> "ComparedRequest":
        """The request with the meaning of every answer."""

        def said(answers: Sequence[Interaction]) -> Meanings:
            asked = request.answers[0].request
            return tuple(meaning(request.read_as, asked, each.response, request.known) for each in answers)

        return cls(request, said(request.answers), said(fresh), weight)

    def pool(self, field: str) -> AnswerPool:
        """Its answers in one field."""
        return AnswerPool(tuple(each[field] for each in self.recorded), tuple(each[field] for each in self.fresh))

    def numbers(self, field: str) -> tuple[list[float], list[float]]:
        """The numbers its answers state there; one that cannot be read states none."""
        recorded, fresh = (
            [each[field] for each in side if isinstance(each.get(field), float)] for side in (self.recorded, self.fresh)
        )
        return recorded, fresh  # type: ignore[return-value]  # narrowed above, which mypy does not see through `get`


def compared(asked: Sequence[ComparedRequest], alpha: float, seed: int) -> tuple[FieldDrift, ...]:
    """Every field of every agent. Decisions are tested at half of `alpha`; all others share the other half (Holm)."""
    rows: dict[tuple[str, str], list[ComparedRequest]] = {}
    for one in asked:
        for field in one.request.fields:
            rows.setdefault((one.request.agent, field), []).append(one)
    rng = np.random.default_rng(seed)
    found = {
        name: (_shifted if name[1] == CONFIDENCE else _equal)(*name, members, alpha / 2, rng)
        for name, members in sorted(rows.items(), key=lambda item: (item[0][1] != DECISION, item[0]))
    }
    adjusted: dict[tuple[str, str], float] = {}
    for primary in (True, False):
        adjusted |= holm({name: row.p for name, row in found.items() if row.primary == primary and row.p is not None})
    return tuple(row.model_copy(update={"p_adjusted": adjusted.get(name)}) for name, row in found.items())


def turned(asked: Sequence[ComparedRequest]) -> tuple[Turned, ...]:
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
                    passages=one.request.uses,
                )
            )
    return tuple(sorted(found, key=lambda each: (not each.on_the_way, each.passages[0].case, each.key)))


def noise_of(asked: Sequence[ComparedRequest]) -> Estimate | None:
    """How much repeats of one decision differ among themselves; None where no decision has repeats."""
    found = [(one, one.pool(DECISION)) for one in asked if DECISION in one.request.fields]
    return share([Seen(pool.noise, one.weight, one.request.case) for one, pool in found if pool.told])


def _equal(
    agent: str, field: str, members: Sequence[ComparedRequest], level: float, _rng: np.random.Generator
) -> FieldDrift:
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
        primary=field == DECISION,
    )


def _shifted(
    agent: str, field: str, members: Sequence[ComparedRequest], level: float, rng: np.random.Generator
) -> FieldDrift:
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


_CAUTION: Final = 0.6
"""Two-sided, so that the true floor is below its upper end four times in five: what is planned with a floor that was
measured too low would not be enough."""


def judged(fields: Sequence[FieldDrift], enough: Needed, precision: float) -> DriftVerdict:
    """Drifted where a field moved by more than chance; else representative where decisions cannot have moved by as much
    as `precision`; else nobody can tell."""
    decisions = [field for field in fields if field.primary]
    decision = max(decisions, key=lambda each: 2.0 if each.change is None else each.change.high or 2.0, default=None)
    if moved := [field for field in fields if field.moved]:
        sentence = "drifted: the model does not answer as the tape does, by more than chance"
        return DriftVerdict(
            status="drifted", exit_code=EXIT_WORSE, sentence=sentence, reasons=tuple(map(_moved, moved))
        )
    if decision is None or decision.change is None or decision.change.high is None:
        return DriftVerdict(
            status="cannot tell",
            exit_code=EXIT_CANNOT_JUDGE,
            sentence="cannot tell: no decision was drawn that a model makes by a schema or by tool calls",
            reasons=("take a larger --sample, or a suite with such decisions",),
        )
    if decision.change.high < precision:
        bound = f"decisions differ from the tape by less than {_points(decision.change.high)} more than repeats do"
        sentence = f"representative: {bound}, and nothing else moved by more than chance"
        return DriftVerdict(status="representative", exit_code=EXIT_OK, sentence=sentence)
    return DriftVerdict(
        status="cannot tell",
        exit_code=EXIT_CANNOT_JUDGE,
        sentence=f"cannot tell: {decision.requests} decisions leave room for {_points(decision.change.high)} of change "
        f"where {_points(precision)} were to be seen",
        reasons=(_remedy(enough),),
    )


def enough_for(
    decision: FieldDrift | None,
    floor: Estimate | None,
    requests: Sequence[RecordedRequest],
    precision: float,
    seed: int,
) -> Needed:
    """The decisions, and the sample of all requests, that find a change of `precision` with 80 % power; more than were
    asked where those did not settle it."""
    planned = wilson_at(floor.value, floor.effective, _CAUTION)[1] if floor is not None else 0.0
    level = decision.level if decision is not None else 0.025
    decisions = needed(precision, planned, level)
    if decisions is not None and decision is not None and decision.change is not None:
        decisions = max(decisions, _unsettled(decision, precision))
    return Needed(decisions=decisions, sample=_sample(decisions, requests, seed), floor=planned)


def _unsettled(decision: FieldDrift, precision: float) -> int:
    """The decisions at which the interval would end below `precision` if its middle stays; twice as many if that is
    above. Intervals shrink with the root of the size."""
    change = decision.change
    if change is None or change.high is None or change.high < precision or decision.moved:
        return 0
    if change.value >= precision:
        return 2 * decision.requests
    return math.ceil(decision.requests * ((change.high - change.value) / (precision - change.value)) ** 2)


def _sample(decisions: int | None, requests: Sequence[RecordedRequest], seed: int) -> int | None:
    """The smallest sample with that many decisions; None where all requests have fewer."""
    if decisions is None or sum(DECISION in request.fields for request in requests) < decisions:
        return None
    strata = in_order(requests, seed)
    low, high = 0, len(requests)
    while high - low > 1:
        middle = (low + high) // 2
        found = sum(DECISION in request.fields for request in taken(strata, middle))
        low, high = (low, middle) if found >= decisions else (middle, high)
    return high


def _remedy(enough: Needed) -> str:
    if enough.sample is not None:
        return f"{enough.decisions} decisions would do: the same command with --sample {enough.sample} --extend"
    if enough.decisions is None:
        return "repeats differ too much among themselves for that: give a larger --set precision"
    return (
        f"it takes {enough.decisions} decisions, and fewer are recorded: record more cases, "
        "or give a larger --set precision"
    )


def _moved(field: FieldDrift) -> str:
    change = field.change
    if field.field == CONFIDENCE:
        shift = f"{change.value:+.2f}" if change else "?"
        return f"{field.agent} {field.field}: shifted by {shift} (p {_p(field)})"
    more = _points(change.value) if change else "?"
    return f"{field.agent} {field.field}: {more} further from the tape than repeats from each other (p {_p(field)})"


def _p(field: FieldDrift) -> str:
    if field.p_adjusted is None or field.p_adjusted >= 0.001:
        return f"= {field.p_adjusted:.3f}" if field.p_adjusted is not None else "unknown"
    return "< 0.001"


def _points(fraction: float) -> str:
    """A fraction in points, rounded up: a bound never flatters."""
    return counted(math.ceil(round(100 * fraction, 6)), "point")


def tell(
    suite: str,
    population: Population,
    sample: Sequence[RecordedRequest],
    answered: Mapping[str, Cassette],
    *,
    samples: int,
    seed: int,
    precision: float,
    alpha: float,
    prices: PriceTable,
) -> Drift:
    """The comparison and the verdict.

    Args:
        suite: its name.
        population: what could be asked.
        sample: what was.
        answered: the fresh answers by case; all that the sample needs.
        samples: answers the suite has to each request.
        seed: of the sample.
        precision: the change of decisions, as a fraction, that must not be overlooked.
        alpha: the chance of a false alarm, over all fields.
        prices: what tokens cost.
    """
    sizes, counts = population.sizes, Counter(request.stratum for request in sample)
    asked = [
        ComparedRequest.read(request, answers(request, answered), sizes[request.stratum] / counts[request.stratum])
        for request in sample
    ]
    fields = compared(asked, alpha, seed)
    decision = next((field for field in fields if field.primary), None)
    enough = enough_for(decision, noise_of(asked), population.requests, precision, seed)
    return Drift(
        suite=suite,
        seed=seed,
        precision=precision,
        alpha=alpha,
        strata=tuple(
            StratumDrawn(agent=name.agent, variant=name.variant, recorded=size, drawn=counts[name])
            for name, size in sizes.items()
        ),
        prose=len(population.prose),
        cases=len({request.case for request in sample}),
        recorded=told(answer for request in sample for answer in request.answers),
        fresh=told(answer for request in sample for answer in answers(request, answered)),
        fields=fields,
        turned=turned(asked),
        needed=enough,
        asked=price_of({request: request.times for request in sample}, prices),
        recording=of_recording(population, samples, prices),
        verdict=judged(fields, enough, precision),
    )

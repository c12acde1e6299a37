"""All that a sitting has shown, once every answer is there."""

from collections import Counter
from collections.abc import Mapping, Sequence

from evals.cassette.store import Cassette
from evals.drift.compare import Asked, compared, noise_of, turned
from evals.drift.population import Population, Recorded
from evals.drift.price import of_recording, price_of, told
from evals.drift.sitting import answers
from evals.drift.verdict import enough_for, judged
from evals.models.drift import Drift, StratumDrawn
from evals.prices import PriceTable


def tell(
    suite: str,
    population: Population,
    sample: Sequence[Recorded],
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
        Asked.read(request, answers(request, answered), sizes[request.stratum] / counts[request.stratum])
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

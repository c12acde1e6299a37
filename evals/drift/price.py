"""What asking takes, from what the very same requests took when they were recorded."""

from collections import Counter
from collections.abc import Iterable, Mapping

from evals.cassette.store import Interaction
from evals.drift.population import Population, Recorded
from evals.models.drift import Price, Told
from evals.prices import PriceTable


def price_of(times: Mapping[Recorded, int], prices: PriceTable) -> Price:
    """The tokens and the price of so many answers to each request."""
    tokens: dict[str, Counter[str]] = {}
    for request, count in times.items():
        model = str(request.answers[0].request.get("model") or "")
        mine = tokens.setdefault(model, Counter())
        mine["in"] += count * max(answer.usage.prompt_tokens for answer in request.answers)
        outs = [answer.usage.completion_tokens for answer in request.answers]
        mine["out"] += round(count * sum(outs) / len(outs))
    costs = {model: prices.cost(model, each["in"], each["out"]) for model, each in tokens.items()}
    unpriced = tuple(sorted(model for model, cost in costs.items() if cost is None))
    return Price(
        requests=len(times),
        answers=sum(times.values()),
        input_tokens=sum(each["in"] for each in tokens.values()),
        output_tokens=sum(each["out"] for each in tokens.values()),
        usd=None if unpriced else round(sum(cost or 0.0 for cost in costs.values()), 4),
        unpriced=unpriced,
        prices_as_of=prices.as_of,
    )


def of_recording(population: Population, samples: int, prices: PriceTable) -> Price:
    """What it takes to record all of it anew, as many answers to each request as the suite has samples."""
    every = (*population.requests, *population.prose)
    return price_of({request: min(samples, len(request.answers)) for request in every}, prices)


def told(answers: Iterable[Interaction]) -> Told:
    """Who gave these answers, and when; there is at least one."""
    found = list(answers)
    times = sorted(answer.recorded_at for answer in found)
    return Told(first=times[0], last=times[-1], models=dict(sorted(Counter(each.model for each in found).items())))

"""Tokens, time and price of a recording: estimated from comparable recordings, counted against a budget."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evals.cassettes.calls_and_misses import system_text
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_schema import Usage
from evals.cassettes.player import IncomingRequest
from evals.cassettes.request_key import parse_json
from evals.errors import ConfigurationError, RecordingStoppedError
from evals.models.suite import Models
from evals.models.trace import Miss, Trace
from evals.prices import PriceTable

BYTES_PER_TOKEN: Final = 3
"""On the high side for English and code, which come to four: an estimate that is too low would overrun a budget."""
LONGEST_ANSWER: Final = 1024
"""Tokens assumed for an answer whose request sets no limit."""
_UNPRICED: Final = "--budget: no price is known for {}; name it in a table of your own with --prices FILE"


@dataclass
class Meter:
    """Requests, tokens and US dollars. `spent_usd` is of answers, `reserved_usd` of requests on their way;
    `unpriced` are the models that answered without being in the table."""

    prices: PriceTable
    budget_usd: float | None = None
    max_requests: int | None = None
    requests: int = 0
    answers: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    unpriced: tuple[str, ...] = ()

    def admit(self, request: IncomingRequest) -> None:
        """Count a request that is about to be made.

        Raises:
            RecordingStoppedError: it would be one too many, or cost more than is left.
        """
        if self.max_requests is not None and self.requests >= self.max_requests:
            raise RecordingStoppedError(f"--max-requests {self.max_requests} is reached; run it again to go on")
        estimate = self.estimate(request)
        if self.budget_usd is not None and self.spent_usd + self.reserved_usd + estimate > self.budget_usd:
            under_way = f", {usd(self.reserved_usd)} under way" if self.reserved_usd else ""
            raise RecordingStoppedError(
                f"the budget of {usd(self.budget_usd)} does not cover the next request: {usd(self.spent_usd)} spent"
                f"{under_way}, up to {usd(estimate)} needed; run it again with a new --budget to go on"
            )
        if self.budget_usd is not None and request.model and self.prices.cost(request.model, 1, 1) is None:
            raise RecordingStoppedError(_UNPRICED.format(request.model))
        self.requests += 1
        self.reserved_usd += estimate

    def settle(self, request: IncomingRequest, usage: Usage | None) -> None:
        """A request is over: what was reserved for it becomes what it cost, nothing if it came to nothing."""
        estimate = self.estimate(request)
        self.reserved_usd = max(0.0, self.reserved_usd - estimate)
        if usage is None:
            return
        self.answers += 1
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        cost = self.prices.cost(request.model, usage.prompt_tokens, usage.completion_tokens)
        if request.model and cost is None:
            self.unpriced = tuple(dict.fromkeys((*self.unpriced, request.model)))
        counted = usage.prompt_tokens + usage.completion_tokens
        self.spent_usd += (
            (cost or 0.0) if counted else estimate
        )  # a server that does not count is taken at the estimate

    def estimate(self, request: IncomingRequest) -> float:
        """USD this request may cost at most, as far as its length tells; 0 for a search and for an unknown price."""
        prompt = math.ceil(len(request.body) / BYTES_PER_TOKEN)
        return self.prices.cost(request.model, prompt, _longest_answer(request.body)) or 0.0

    def __str__(self) -> str:
        tokens = f"{self.prompt_tokens + self.completion_tokens:,} tokens"
        return f"{tokens}, {self.spend}"

    @property
    def spend(self) -> str:
        """The money in words; unknown as soon as one model has no price."""
        return f"price unknown ({', '.join(self.unpriced)})" if self.unpriced else usd(self.spent_usd)


def priced(models: list[Models], prices: PriceTable) -> None:
    """See that a budget can be kept at all.

    Raises:
        ConfigurationError: a model that may be asked has no price.
    """
    named = dict.fromkeys(name for each in models for name in (each.default, each.fallback, *each.agents.values()))
    if unknown := [name for name in named if name and prices.cost(name, 1, 1) is None]:
        raise ConfigurationError(_UNPRICED.format(", ".join(unknown)))


def usd(amount: float) -> str:
    """Cents, and more digits where cents would say nothing."""
    return f"{amount:.2f} USD" if amount >= 1 or amount == 0 else f"{amount:.4f} USD"


def _longest_answer(body: bytes) -> int:
    try:
        request = parse_json(body)
    except ValueError:
        request = None
    if not isinstance(request, dict):
        return LONGEST_ANSWER
    limit = request.get("max_completion_tokens") or request.get("max_tokens")
    return limit if isinstance(limit, int) else LONGEST_ANSWER


SEARCH = "search"
"""Asks no model, and costs no tokens."""


@dataclass
class Sums:
    """What one agent's recorded requests came to."""

    count: int = 0
    characters: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, found: Interaction) -> None:
        """Count one more."""
        self.count += 1
        self.characters += len(json.dumps(found.request, ensure_ascii=False, separators=(",", ":")))
        self.prompt_tokens += found.usage.prompt_tokens
        self.completion_tokens += found.usage.completion_tokens
        self.latency_ms[str(found.request.get("model") or "")].append(found.latency_ms)


@dataclass(frozen=True)
class Experience:
    """What recordings of this suite's cases took: `by_asker` sums, over `trials` recorded trials of `cases` cases."""

    by_asker: Mapping[str, Sums]
    trials: int
    cases: int
    router: str = ""

    def per_trial(self, asker: str) -> float:
        """Requests one more trial needs on average; workers' answers that trials share are shared here too."""
        return self.by_asker[asker].count / self.trials if asker in self.by_asker and self.trials else 0.0


def experience_of(cassettes: Iterable[Cassette], router: str = "") -> Experience:
    """Sums over cassettes. How many trials a cassette holds is not written in it: as many as it has system prompts of
    the `router`, since each variant needs its own answers to those."""
    sums: dict[str, Sums] = defaultdict(Sums)
    trials = cases = 0
    for cassette in cassettes:
        for found in cassette.interactions:
            sums[asker_of(found.agent, found.model)].add(found)
        prompts = {system_text(found.request) for found in cassette.interactions if found.agent == router}
        trials += max(len(prompts), 1) if cassette.interactions else 0
        cases += bool(cassette.interactions)
    return Experience(dict(sums), trials, cases, router)


def asker_of(agent: str, model: str) -> str:
    """Who asks: an agent, or the search it makes."""
    return agent if model else SEARCH


@dataclass(frozen=True)
class Need:
    """Requests of one agent to one model: those known now with their characters, and how many it will be in all."""

    asker: str
    model: str
    known: int
    characters: int
    expected: float


def needs_of(variants: Mapping[str, Models], traces: Sequence[Trace], experience: Experience) -> tuple[Need, ...]:
    """What trials that are not recorded will have to ask, each request once, under the first variant that needs it.

    A trial is expected to ask what recorded trials asked on average, less what it was served.
    """
    seen: set[tuple[str, str]] = set()
    needs = []
    for variant, models in variants.items():
        mine = [trace for trace in traces if trace.variant == variant and (trace.misses or trace.point_misses)]
        fresh: dict[str, list[Miss]] = defaultdict(list)
        for trace in mine:
            for miss in (*trace.misses, *trace.point_misses):
                if (trace.case_id, miss.key) not in seen:
                    seen.add((trace.case_id, miss.key))
                    fresh[asker_of(miss.agent, miss.model)].append(miss)
        remaining = _remaining([trace for trace in mine if trace.misses], experience)  # others are at their end
        for asker in sorted({*fresh, *remaining}):
            misses = fresh.get(asker, [])
            expected = max(float(len(misses)), remaining[asker])
            if expected:
                before = experience.by_asker[asker].latency_ms if asker in experience.by_asker else ()
                model = models.agents.get(asker, models.default) or next(iter(before), "")  # a target names none
                model = "" if asker == SEARCH else model
                needs.append(Need(asker, model, len(misses), sum(miss.characters for miss in misses), expected))
    return tuple(needs)


def _remaining(traces: Sequence[Trace], experience: Experience) -> dict[str, float]:
    """Requests still to come, per agent; a mean, hence fractions."""
    left: dict[str, float] = defaultdict(float)
    for trace in traces:
        served = Counter(asker_of(call.agent, call.model) for call in trace.calls)
        served[experience.router] += sum(point.chosen is not None for point in trace.points)
        for asker in experience.by_asker:
            left[asker] += max(0.0, experience.per_trial(asker) - served[asker])
    return left


def input_tokens(need: Need, experience: Experience) -> float:
    """Known requests by their characters, further ones by the mean of their agent's."""
    sums = _comparable(need, experience)
    if not sums.count or not sums.characters:
        return 0.0
    known = need.characters * sums.prompt_tokens / sums.characters
    return known + (need.expected - need.known) * sums.prompt_tokens / sums.count


def output_tokens(need: Need, experience: Experience) -> float:
    """The mean answer of the agent, once per request."""
    sums = _comparable(need, experience)
    return need.expected * sums.completion_tokens / sums.count if sums.count else 0.0


def seconds(need: Need, experience: Experience) -> float | None:
    """How long the same model took for as many; None if no answer of it has a latency."""
    own = _comparable(need, experience).latency_ms.get(need.model)
    others = [ms for sums in experience.by_asker.values() for ms in sums.latency_ms.get(need.model, ())]
    times = [ms for ms in own or () if ms] or [ms for ms in others if ms]  # 0: not known, as of batch rounds
    return need.expected * sum(times) / len(times) / 1000 if times else None


def _comparable(need: Need, experience: Experience) -> Sums:
    """The agent's own recorded requests, else those of all agents."""
    own = experience.by_asker.get(need.asker)
    if own is not None:
        return own
    every = Sums()
    for asker, sums in experience.by_asker.items():
        if SEARCH not in (asker, need.asker):
            every.count += sums.count
            every.characters += sums.characters
            every.prompt_tokens += sums.prompt_tokens
            every.completion_tokens += sums.completion_tokens
    return every

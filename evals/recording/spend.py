"""Tokens and price of a recording, counted and estimated against a budget."""

import math
from dataclasses import dataclass
from typing import Final

from evals.cassettes.cassette_schema import Usage
from evals.cassettes.player import IncomingRequest
from evals.cassettes.request_key import parse_json
from evals.errors import ConfigurationError, RecordingStoppedError
from evals.models.suite import Models
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

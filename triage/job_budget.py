"""Requests, prices, and what a job may cost: `--max-cost` and `--max-tokens`, checked before every model request."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import httpx2
import yaml

from triage.errors import EXIT_UNFINISHED, ConfigurationError, TriageError
from triage.settings import Settings


@dataclass(frozen=True)
class AnsweredRequest:
    """One answered request: tokens as the endpoint counted them (0 if it did not), seconds until it was there."""

    agent: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float


@dataclass(frozen=True)
class Refusal:
    """One request without an answer: `why` is an HTTP status or the kind of failure. The tokens are those it may have
    cost all the same, 0 where the endpoint said no."""

    agent: str
    model: str
    why: str
    tokens_in: int = 0
    tokens_out: int = 0


TABLE: Final = Path(__file__).with_name("prices.yaml")
_MILLION: Final = 1_000_000


def cost_usd(calls: Iterable[AnsweredRequest]) -> float | None:
    """USD for all of `calls`; None if one of their models has no price."""
    spent = 0.0
    for call in calls:
        price = price_of(call.model)
        if price is None:
            return None
        spent += call.tokens_in * price[0] + call.tokens_out * price[1]
    return spent / _MILLION


def price_of(model: str) -> tuple[float, float] | None:
    """USD per million tokens of input and of output; None for a model without a price."""
    price = _table()["models"].get(model)
    return None if price is None else (price["usd_per_million_input"], price["usd_per_million_output"])


def told(calls: Iterable[AnsweredRequest]) -> str:
    """The price in words, with the day of the table, or which model has none."""
    asked = list(calls)
    cost, table = cost_usd(asked), _table()
    if cost is None:
        unknown = next(call.model for call in asked if call.model not in table["models"])
        return f"price unknown ({unknown or 'a model without a name'} is not in the table)"
    return f"{cost:.4f} USD (prices of {table['as_of']})"


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return table


TOKENS_PER_BYTE: Final = 0.5


class OverBudgetError(TriageError):
    """The next request could pass the cap; it was not sent. The message says which cap, and how much is used; `raised`
    are the words that give the job a cap with room for more."""

    exit_code = EXIT_UNFINISHED

    def __init__(self, message: str, raised: str) -> None:
        super().__init__(message)
        self.raised = raised


@dataclass(frozen=True)
class Amount:
    """Tokens, and what they cost in USD."""

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.tokens + other.tokens, self.usd + other.usd)


@dataclass
class Budget:
    """The cap of one job. `output_limit` is the upper bound of one answer in tokens; `used` is what the job has taken
    so far, over all its sittings."""

    max_usd: float | None
    max_tokens: int | None
    output_limit: int
    used: Amount = Amount()
    _reserved: dict[httpx2.Request, Amount] = field(default_factory=dict)

    def count(self, before: Iterable[AnsweredRequest | Refusal]) -> None:
        """Count what earlier sittings have asked for."""
        self.used = sum((amount_of(call.model, call.tokens_in, call.tokens_out) for call in before), self.used)

    def admit(self, request: httpx2.Request) -> None:
        """Reserve what `request` may take at most.

        Raises:
            OverBudgetError: it could pass the cap.
        """
        needed = amount_of(*self.bound(request))
        least = sum(self._reserved.values(), self.used) + needed
        if self.max_usd is not None and least.usd > self.max_usd:
            more = math.ceil(10_000 * max(2 * self.max_usd, least.usd)) / 10_000
            raise _over("--max-cost", f"{self.max_usd:g} USD", f"{self.used.usd:.4f}", f"{least.usd:.4f}", f"{more:g}")
        if self.max_tokens is not None and least.tokens > self.max_tokens:
            more = max(2 * self.max_tokens, least.tokens)
            raise _over("--max-tokens", f"{self.max_tokens:,}", f"{self.used.tokens:,}", f"{least.tokens:,}", str(more))
        self._reserved[request] = needed

    def settle(self, request: httpx2.Request, took: AnsweredRequest | None) -> None:
        """Put what the request took in the place of what was reserved for it; None: nothing. An answer that counts no
        tokens has taken what was reserved."""
        reserved = self._reserved.pop(request, Amount())
        if took is None:
            return
        counted = took.tokens_in + took.tokens_out
        model = took.model if price_of(took.model) else self.bound(request)[0]
        self.used += amount_of(model, took.tokens_in, took.tokens_out) if counted else reserved

    def bound(self, request: httpx2.Request) -> tuple[str, int, int]:
        """The model that is asked, and upper bounds of the tokens in prompt and answer."""
        body: dict[str, Any] = json.loads(request.content)
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or self.output_limit
        return str(body.get("model") or ""), math.ceil(len(request.content) * TOKENS_PER_BYTE), int(limit)

    def told(self) -> str:
        """How much of each cap the job has used."""
        parts = [] if self.max_usd is None else [f"{self.used.usd:.4f} of {self.max_usd:g} USD"]
        parts += [] if self.max_tokens is None else [f"{self.used.tokens:,} of {self.max_tokens:,} tokens"]
        return f"the job has used {', '.join(parts)}"


def budget_of(max_usd: str | None, max_tokens: str | None, settings: Settings, asked: Iterable[str]) -> Budget | None:
    """The budget of a job whose agents `asked` ask models; None without a cap.

    Raises:
        ConfigurationError: the cap cannot be kept: an answer may be of any length, a model has no price, or agents run
            as services, whose requests are not seen here.
    """
    if max_usd is None and max_tokens is None:
        return None
    if max_usd is not None and not math.isfinite(float(max_usd)):
        raise ConfigurationError(f"--max-cost {max_usd}: give a number of USD")
    cap = "--max-cost" if max_usd is not None else "--max-tokens"
    if settings.max_output_tokens is None:
        raise ConfigurationError(f"{cap} needs an upper bound of one answer: set TRIAGE_MAX_OUTPUT_TOKENS")
    if settings.agent_urls:
        raise ConfigurationError(f"{cap} does not see what services ask for: leave it out, or unset TRIAGE_AGENT_URLS")
    models = {settings.model_of(agent, fallback=second) for agent in asked for second in (False, True)}
    unpriced = sorted(model for model in models if price_of(model) is None)
    if max_usd is not None and unpriced:
        known = "use --max-tokens, or give it a price in evals/prices.yaml"
        raise ConfigurationError(f"--max-cost: the price of {unpriced[0]!r} is unknown: {known}")
    usd = None if max_usd is None else float(max_usd)
    return Budget(usd, None if max_tokens is None else int(max_tokens), settings.max_output_tokens)


def over_budget(error: BaseException | None) -> OverBudgetError | None:
    """The refusal behind an error that the SDK and LangChain have wrapped; None where it is another one."""
    while error is not None and not isinstance(error, OverBudgetError):
        error = error.__cause__
    return error


def amount_of(model: str, tokens_in: int, tokens_out: int) -> Amount:
    """The tokens with their price; 0 USD where the model has none (see `budget_of`)."""
    price = price_of(model) or (0.0, 0.0)
    return Amount(tokens_in + tokens_out, (tokens_in * price[0] + tokens_out * price[1]) / 1_000_000)


def _over(cap: str, limit: str, used: str, least: str, more: str) -> OverBudgetError:
    said = f"the next request could pass {cap} {limit}: {used} used, and up to {least} with what is asked next"
    return OverBudgetError(said, f"{cap} {more}")

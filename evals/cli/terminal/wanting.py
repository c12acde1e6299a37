"""What is missing and what it takes, in words."""

from evals.recording.plan.plan import Effort, MissingBecause


def because(cause: MissingBecause) -> str:
    """One cause on one line."""
    agents = ", ".join(f"{agent} {count}" for agent, count in cause.agents.items())
    cases = cause.cases[0] if len(cause.cases) == 1 else f"{len(cause.cases)} cases"
    missing = f"{count(cause.requests, 'request')} ({agents}) of {', '.join(cause.variants)} in {cases}"
    return f"{cause.kind}: {cause.text} · {missing}"


def effort(found: Effort) -> str:
    """Tokens, price and time on one line."""
    if found.unpriced:
        price = (
            f"price unknown ({', '.join(found.unpriced)} not in the price table of {found.prices_as_of}; --prices FILE)"
        )
    else:
        price = f"{found.usd:.2f} USD by the price table of {found.prices_as_of}"
    tokens = f"About {found.input_tokens:,} tokens in and {found.output_tokens:,} out"
    return f"{tokens}; {price}; {_time(found.seconds)}."


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "time unknown (this model has not answered here yet)"
    shown = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"about {shown}, one request after the other"


def count(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"

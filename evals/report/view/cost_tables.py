"""Table of cost: means per case and variant."""

from typing import Final

from evals.models.run import Run
from evals.report.numbers import NOTHING, amount
from evals.report.view.page_parts import Table

COLUMNS: Final[dict[str, str]] = {
    "cost.visits": "steps",
    "cost.llm_calls": "LLM calls",
    "cost.tokens": "tokens",
    "cost.price_usd": "price",
    "cost.latency_s": "recorded time",
    "cost.questions": "questions",
    "cost.vetoes": "overrides",
}


def what_it_costs(run: Run) -> Table:
    """Means per case over exact trials, each with the number of cases it is the mean of."""
    infos = {info.name: info for info in run.scorers}
    found = {(item.variant, item.scorer): item for item in run.summaries}
    rows = []
    for info in run.variants:
        name = info.variant.name
        covered = run.coverage[name]
        cells = [
            amount(found[name, scorer], infos[scorer]) if (name, scorer) in found else NOTHING for scorer in COLUMNS
        ]
        rows.append((name, f"{covered.exact}/{covered.total}", *cells))
    return Table(_caption(run), ("variant", "exact trials", *COLUMNS.values()), tuple(rows))


def _caption(run: Run) -> str:
    caption = "What it costs (means per case, over exact trials)"
    uneven = len({covered.exact for covered in run.coverage.values() if covered.exact}) > 1
    rests = "; variants with other n rest on other cases" if uneven else ""
    return f"{caption}{rests}{token_note(run)}"


def token_note(run: Run) -> str:
    """Who counted the tokens, where it was not the model's own tokenizer; nothing where it was."""
    counted: dict[str, list[str]] = {}
    for variant in (info.variant for info in run.variants):
        if variant.models.tokens_counted_by:
            counted.setdefault(variant.models.tokens_counted_by, []).append(variant.name)
    told = {who: "" if len(names) == len(run.variants) else f" of {', '.join(names)}" for who, names in counted.items()}
    return "".join(f"; tokens{of} counted by {who}, not by the model's own tokenizer" for who, of in told.items())

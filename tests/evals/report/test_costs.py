"""What a trial costs, variant by variant."""

from evals.models.run import CostChange
from evals.report.view.variant_tables import COLUMNS, cost_change, score_plots, what_it_costs
from evals.scoring.registry import scorers
from tests.builders.run import a_run, a_scorer_info, a_summary, a_variant_info

UNITS = {scorer.name: scorer.unit for scorer in scorers()}
INFOS = [a_scorer_info(name, unit=UNITS[name], better="lower") for name in COLUMNS]


def test_every_column_is_a_score_there_is():
    assert COLUMNS.keys() <= UNITS.keys()


def test_every_mean_stands_with_the_cases_it_rests_on():
    summaries = [
        a_summary(name, scorer, hits=None, mean=2.5, n=7, total=8) for name in ("v2", "v3") for scorer in COLUMNS
    ]
    first = what_it_costs(a_run(scorers=INFOS, summaries=summaries)).rows[0]

    counts, tokens, dollars, seconds = "2.5 n=7/8", "2 n=7/8", "2.5000 USD n=7/8", "2.5 s n=7/8"
    assert first == ("v2", "1/1", counts, counts, tokens, dollars, seconds, counts, counts)


def test_what_nobody_scored_is_not_nothing_and_has_no_column_where_it_is_unknown_of_all():
    def told(name, scorer):
        known = (name, scorer) == ("v2", "cost.tokens")
        return a_summary(name, scorer, hits=None, mean=7.0 if known else None, n=int(known))

    table = what_it_costs(
        a_run(scorers=INFOS, summaries=[told(name, each) for name in ("v2", "v3") for each in COLUMNS])
    )

    assert table.head == ("variant", "exact trials", "tokens")
    assert [row[-1] for row in table.rows] == ["7 n=1/1", "n/a n=0/1"]


def a_run_counted_by(**counted: str):
    """Variants with who counted their tokens; empty for the model's own tokenizer."""
    infos = []
    for name, who in counted.items():
        info = a_variant_info(name)
        models = info.variant.models.model_copy(update={"tokens_counted_by": who or None})
        infos.append(info.model_copy(update={"variant": info.variant.model_copy(update={"models": models})}))
    return a_run(
        variants=infos,
        scorers=INFOS,
        summaries=[a_summary(name, scorer, hits=None) for name in counted for scorer in COLUMNS],
    )


def test_a_table_of_tokens_says_who_counted_them():
    told = "tokens counted by cl100k_base, not by the model's own tokenizer"

    assert told in what_it_costs(a_run_counted_by(v2="cl100k_base", v3="cl100k_base")).caption
    assert "counted by" not in what_it_costs(a_run_counted_by(v2="", v3="")).caption


def test_where_only_some_variants_were_counted_otherwise_they_are_named():
    caption = what_it_costs(a_run_counted_by(v2="cl100k_base", v3="")).caption

    assert caption.endswith("; tokens of v2 counted by cl100k_base, not by the model's own tokenizer")


def costing(**means: float):
    """A run of v2 (reference) and v3 with these means as (v2, v3) by scorer."""
    summaries = [
        a_summary(name, f"cost.{scorer}", hits=None, mean=mean)
        for scorer, pair in means.items()
        for name, mean in zip(("v2", "v3"), pair, strict=True)
    ]
    return a_run(scorers=[a_scorer_info(), *INFOS], summaries=[*summaries, *map(a_summary, ("v2", "v3"))])


def test_the_candidates_cost_stands_beside_the_references_with_the_change():
    assert cost_change(costing(tokens=(100, 80), questions=(1, 1))).rows == (
        ("tokens", "80", "100", "\N{MINUS SIGN}20 %"),
        ("questions", "1", "1", "same"),
    )


def test_a_change_stands_with_its_interval_and_the_limit_of_the_suite():
    change = CostChange(
        name="tokens",
        left="v3",
        right="v2",
        n=20,
        missing=0,
        before=100,
        after=80,
        limit="+10 %",
        low=-0.25,
        high=-0.15,
    )
    (row,) = cost_change(costing(tokens=(100, 80)).model_copy(update={"costs": (change,)})).rows

    assert row[-1] == "\N{MINUS SIGN}20 % [\N{MINUS SIGN}25, \N{MINUS SIGN}15], limit +10 %"


def test_names_of_dots_that_lie_close_stand_on_both_sides():
    (plot,) = score_plots(costing(tokens=(100, 100)))

    assert [dot.side for dot in plot.dots] == ["left", "right"]

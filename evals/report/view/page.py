"""The report page of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

from evals.analysis.label_disputes import disputes
from evals.application_pack import load_pack
from evals.models.forced_decision import decisive_lines
from evals.models.run import Run, ScorerInfo
from evals.report.numbers import script_json
from evals.report.recorded_calls import NONE, Recorded
from evals.report.view.case_table import case_table, changed_first, slice_map
from evals.report.view.dispute_page import suspect_lists
from evals.report.view.divergence_view import Lead, divergence_rows, leads, pools_for
from evals.report.view.headline_table import (
    baseline_table,
    comparisons,
    deciding,
    in_words,
    secondary,
    tools_that_ran,
    variant_table,
)
from evals.report.view.judge_view import judge_view
from evals.report.view.page_parts import Lists, Piece, Table, drawn_sections, pieces
from evals.report.view.variant_diff import (
    PromptDiff,
    difference,
    prompt_diffs,
    prompt_texts,
)
from evals.report.view.variant_tables import (
    COUNTED,
    changes_table,
    confusion_views,
    cost_change,
    measure_table,
    measured,
    redraw_table,
    sample_table,
    score_plots,
    twin_table,
    what_it_costs,
)
from evals.report.view.violations_table import breach_rows

if TYPE_CHECKING:
    from evals.application_pack import Pack


@dataclass(frozen=True)
class Banner:
    """The verdict: a word, its class, one sentence, the exit code, further reasons as (kind, pieces), and where to
    look. `edits` are the prompts edited since they were committed, as (what, anchor of the first changed line)."""

    word: str
    kind: str
    sentence: tuple[Piece, ...]
    exit_code: str
    reasons: tuple[tuple[str, tuple[Piece, ...]], ...]
    leads: tuple[Lead, ...]
    edits: tuple[tuple[str, str], ...]


MOST_DIVERGENCES: Final = 8
"""Rows of the candidate's first divergences that are seen before anything is opened."""


def page(run: Run, pack: "Pack | None" = None, recorded: Recorded = NONE) -> SimpleNamespace:
    """The view of a run, with the sections of a pack (of the default one if none is given), and what models were
    `recorded` to answer. Pure: the same arguments give the same page."""
    run = run.model_copy(update={"cases": changed_first(run), "scorers": _told_scorers(run)})
    pools, lists = pools_for(run, pack, recorded), Lists([case.id for case in run.cases])
    diffs = prompt_diffs(run, pack)
    divergences = divergence_rows(run, lists)
    first = [row for row in divergences if row.judged and (row.flips or not any(each.flips for each in divergences))]
    shown = tuple(first[:MOST_DIVERGENCES])
    confusions = confusion_views(run)
    alone = run.candidate == run.reference
    return SimpleNamespace(
        suite=run.suite,
        description=pieces(run.description),
        recorded_by=", ".join(run.recorded_by) or "nobody yet",
        question=f"Is {run.candidate} worse than {'before' if alone else run.reference}?",
        banner=_banner(run, leads(run, lists), diffs),
        deciding=deciding(run, lists),
        cost_change=cost_change(run),
        variants=variant_table(run, pack),
        judge=judge_view(run),
        scope=run.scope,
        scope_sentence=" ".join(filter(None, [in_words(run.scope) if run.scope else "", tools_that_ran(run)])),
        cases=case_table(run, pools),
        legend=tuple(pools.letters.items()),
        divergences=shown,
        more_divergences=tuple(row for row in divergences if row not in shown),
        decisive=decisive_lines(run.trials),
        breaches=breach_rows(run, lists, {run.candidate, run.reference}),
        all_breaches=breach_rows(run, lists),
        systems=difference(run, pack),
        prompts=prompt_texts(run, pack),
        diffs=diffs,
        costs=what_it_costs(run),
        plots=score_plots(run),
        comparisons=comparisons(run, lists),
        slices=slice_map(run, lists),
        twins=twin_table(run),
        confusions=tuple(view for view in confusions if not view.diagonal),
        diagonals="; ".join(view.title for view in confusions if view.diagonal),
        sections=drawn_sections(run, pack),
        disputes=suspect_lists(disputes([run])),
        has_dataset_command="dataset" in (pack or load_pack()).commands,
        secondary=secondary(run),
        measures=measure_table(run),
        changed=changes_table(run),
        unlabelled=not any(info.primary for info in run.scorers),
        samples=sample_table(run),
        redraws=redraw_table(run),
        baselines=baseline_table(run),
        definitions=tuple(_definitions(run)),
        provenance=_provenance(run),
        pictures=pools.pictures.all(),  # after the cases, as what follows: by now all are in the pool
        changes=pools.changes.all(),
        causes=pools.causes.all(),
        sheets=pools.sheets.all(),
        texts=pools.texts.all(),  # by now every text is in the pool, and every list
        lists=script_json(lists.steps()),
    )


def _told_scorers(run: Run) -> tuple[ScorerInfo, ...]:
    """The primary metrics, and those that say something of a case of this run."""
    told = {item.scorer for item in run.summaries if item.n or item.failed}
    return tuple(info for info in run.scorers if info.primary or info.name in told)


def _banner(run: Run, found: tuple[Lead, ...], diffs: Sequence[PromptDiff]) -> Banner:
    verdict, case_ids = run.verdict, {case.id for case in run.cases}
    return Banner(
        word=verdict.status,
        kind=verdict.status.replace(" ", "-"),
        sentence=pieces(verdict.sentence, case_ids),
        exit_code=str(verdict.exit_code),
        reasons=tuple(
            (reason.kind, pieces(reason.text, case_ids))
            for reason in verdict.reasons
            if reason.text not in verdict.sentence
        ),
        leads=found,
        edits=tuple(
            (f"{diff.title}: {diff.note}", diff.stretches[0].lines[0].anchor)
            for diff in diffs
            if diff.left == diff.right and diff.stretches
        ),
    )


def _definitions(run: Run) -> Iterator[tuple[str, str, str]]:
    """Name, traits and definition of every metric."""
    for scorer in run.scorers:
        primary = "primary, " if scorer.primary else ""
        yield scorer.name, f"{primary}{scorer.unit}, {scorer.better} is better", scorer.definition
    for info in measured(run):
        counted = COUNTED.get(info.counted, info.counted)
        yield info.name, f"{info.unit} over {counted}, {info.better} is better", info.definition


def _provenance(run: Run) -> Table:
    rows = [
        ("answered by", ", ".join(run.recorded_by) or "nobody yet"),
        ("cases", str(len(run.cases))),
        ("trials", str(len(run.trials))),
        *(
            (f"prompt of {info.variant.name}", f"{info.prompt_source} {info.prompt_digest[:16]}")
            for info in run.variants
            if info.prompt_version
        ),
        *((f"digest of {name}", digest[:16]) for name, digest in sorted(run.digests.items())),
        ("schema", str(run.schema_version)),
    ]
    return Table("What this report rests on", ("what", "value"), tuple(rows))

"""The report page of a run."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.analysis.label_disputes import disputes
from evals.models.metrics import MeasureInfo, Scored
from evals.models.run import Run, ScorerInfo
from evals.report.numbers import NOTHING, script_json
from evals.report.view.case_table import CaseTable, case_table, marked
from evals.report.view.change_causes import (
    ChangeCause,
    DiffLine,
    PromptDiff,
    PromptText,
    difference,
    prompt_diffs,
    prompt_texts,
)
from evals.report.view.confusion_tables import ConfusionView, confusion_views
from evals.report.view.cost_tables import what_it_costs
from evals.report.view.dispute_page import SuspectList, suspect_lists
from evals.report.view.divergence_view import Lead, PartingRow, leads, parting_rows, pools_for
from evals.report.view.flip_matrix import FlipPair, flip_pairs
from evals.report.view.headline import (
    ComparisonRow,
    Headline,
    ScopeView,
    baseline_table,
    comparisons,
    costs,
    headline,
    scope_view,
    secondary,
)
from evals.report.view.judge_view import JudgeView, judge_view
from evals.report.view.page_parts import Lists, Piece, Table, pieces
from evals.report.view.plan_graph import Picture
from evals.report.view.sections import Places, drawn_sections
from evals.report.view.trial_view import legend
from evals.report.view.variant_tables import (
    changes_table,
    measure_table,
    redraw_table,
    sample_table,
    twin_table,
)
from evals.report.view.violations_table import BreachTable, RuleSheet, breach_rows

if TYPE_CHECKING:
    from evals.pack import Pack


@dataclass(frozen=True)
class Banner:
    """The verdict: a word, its class, one sentence, the exit code, the reasons as (kind, pieces), and where to look.
    `edits` are the prompts edited since they were committed, as (what, anchor of the first changed line)."""

    word: str
    kind: str
    sentence: str
    exit_code: str
    reasons: tuple[tuple[str, tuple[Piece, ...]], ...]
    leads: tuple[Lead, ...]
    edits: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Definition:
    """A scorer in words."""

    name: str
    traits: str
    text: str


@dataclass(frozen=True)
class ReportPage:
    """Everything the template puts in its places."""

    suite: str
    description: str
    recorded_by: str
    question: str
    banner: Banner
    headline: Headline
    bargain: Table
    scope: ScopeView | None
    baselines: Table
    comparisons: tuple[ComparisonRow, ...]
    judge: JudgeView | None
    flips: tuple[FlipPair, ...]
    partings: tuple[PartingRow, ...]
    secondary: Table
    measures: Table
    changed: Table
    samples: Table
    redraws: Table
    slices: Table
    twins: Table
    confusions: tuple[ConfusionView, ...]
    legend: tuple[tuple[str, str], ...]
    breaches: BreachTable
    disputes: tuple[SuspectList, ...]
    cases: CaseTable
    pictures: tuple[Picture, ...]
    changes: tuple[tuple[DiffLine, ...], ...]
    causes: tuple[ChangeCause, ...]
    sheets: tuple[RuleSheet, ...]
    systems: str
    prompts: tuple[PromptText, ...]
    diffs: tuple[PromptDiff, ...]
    definitions: tuple[Definition, ...]
    costs: Table
    sections: Places
    provenance: Table
    texts: tuple[str, ...]
    lists: str


def page(run: Run, pack: "Pack | None" = None) -> ReportPage:
    """The view of a run, with the sections of a pack (of the default one if none is given). Pure: the same run gives
    the same page."""
    pools, lists = pools_for(run), Lists([case.id for case in run.cases])
    diffs = prompt_diffs(run)
    return ReportPage(
        suite=run.suite,
        description=run.description,
        recorded_by=", ".join(run.recorded_by) or "nobody yet",
        question=f"Is {run.candidate} worse than {run.reference}?",
        banner=_banner(run, leads(run, lists), diffs),
        headline=headline(run),
        bargain=what_it_costs(run),
        scope=scope_view(run),
        baselines=baseline_table(run),
        comparisons=comparisons(run),
        judge=judge_view(run),
        flips=flip_pairs(run, lists),
        partings=parting_rows(run, lists),
        secondary=secondary(run),
        measures=measure_table(run),
        changed=changes_table(run),
        samples=sample_table(run),
        redraws=redraw_table(run),
        slices=_slices(run),
        twins=twin_table(run),
        confusions=confusion_views(run),
        legend=legend(run, pack),
        breaches=breach_rows(run, lists),
        disputes=suspect_lists(disputes([run])),
        cases=case_table(run, pools),
        pictures=pools.pictures.all(),  # after the cases, as what follows: by now all are in the pool
        changes=pools.changes.all(),
        causes=pools.causes.all(),
        sheets=pools.sheets.all(),
        systems=difference(run),
        prompts=prompt_texts(run),
        diffs=diffs,
        definitions=(
            *(_definition(info) for info in run.scorers),
            *(_measure_definition(info) for info in run.measure_infos),
        ),
        costs=costs(run),
        sections=drawn_sections(run, pack),
        provenance=_provenance(run),
        texts=pools.texts.all(),  # by now every text is in the pool, and every list
        lists=script_json(lists.steps()),
    )


def _banner(run: Run, found: tuple[Lead, ...], diffs: Sequence[PromptDiff]) -> Banner:
    verdict, case_ids = run.verdict, {case.id for case in run.cases}
    return Banner(
        word=verdict.status,
        kind=verdict.status.replace(" ", "-"),
        sentence=verdict.sentence,
        exit_code=str(verdict.exit_code),
        reasons=tuple((reason.kind, pieces(reason.text, case_ids)) for reason in verdict.reasons),
        leads=found,
        edits=tuple(
            (f"{diff.title}: {diff.note}", diff.stretches[0].lines[0].anchor)
            for diff in diffs
            if diff.left == diff.right and diff.stretches
        ),
    )


def _definition(info: ScorerInfo) -> Definition:
    primary = "primary, " if info.primary else ""
    return Definition(info.name, f"{primary}{info.unit}, {info.better} is better", info.definition)


def _measure_definition(info: MeasureInfo) -> Definition:
    return Definition(info.name, f"{info.unit} over {info.counted}, {info.better} is better", info.definition)


def _slices(run: Run) -> Table:
    """Primary metrics of trials per archetype and variant, as counts: slices are too small for rates."""
    metrics = marked(run.scorers)
    names = tuple(info.variant.name for info in run.variants)
    archetype = {case.id: case.archetype for case in run.cases}
    passed: Counter[tuple[str, str, str]] = Counter()
    scored: Counter[tuple[str, str, str]] = Counter()
    for trial in run.trials:
        for scorer, _ in metrics:
            outcome = trial.outcomes.get(scorer)
            if isinstance(outcome, Scored):
                key = (archetype[trial.trace.case_id], trial.trace.variant, scorer)
                scored[key] += 1
                passed[key] += outcome.value == 1
    return Table(
        "Passed of scored, by archetype",
        ("archetype", *(f"{name} {label}" for name in names for _, label in metrics)),
        tuple(
            (
                kind,
                *(
                    _of(passed[kind, name, scorer], scored[kind, name, scorer])
                    for name in names
                    for scorer, _ in metrics
                ),
            )
            for kind in sorted(set(archetype.values()))
        ),
    )


def _of(passed: int, scored: int) -> str:
    return f"{passed}/{scored}" if scored else NOTHING


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

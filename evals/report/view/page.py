"""The whole page, from a run."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evals.models.measure import MeasureInfo
from evals.models.outcome import Scored
from evals.models.run import Run, ScorerInfo
from evals.reasons.find import disputes
from evals.report.inert import script_json
from evals.report.numbers import NOTHING
from evals.report.view.ablations import ablation_table
from evals.report.view.baselines import baseline_table
from evals.report.view.breaches import BreachTable, breach_rows
from evals.report.view.calibration import CalibrationView, calibration_views
from evals.report.view.cases import MARKED, CaseTable, case_table
from evals.report.view.causes import Cause
from evals.report.view.confusion import ConfusionView, confusion_views
from evals.report.view.costs import what_it_costs
from evals.report.view.disputes import SuspectList, suspect_lists
from evals.report.view.flips import FlipPair, flip_pairs
from evals.report.view.guards import guard_table
from evals.report.view.headline import ComparisonRow, Headline, comparisons, costs, headline, secondary
from evals.report.view.judge import JudgeView, judge_view
from evals.report.view.lists import Lists
from evals.report.view.measures import measure_table
from evals.report.view.mentions import Piece, pieces
from evals.report.view.partings import Lead, PartingRow, leads, parting_rows
from evals.report.view.plan import Picture
from evals.report.view.pools import pools_for
from evals.report.view.prompt_diff import Line, PromptDiff, prompt_diffs
from evals.report.view.published import LEGEND, published_table
from evals.report.view.ribbon import LETTERS
from evals.report.view.rules import RuleSheet
from evals.report.view.samples import redraw_table, sample_table
from evals.report.view.scope import ScopeView, scope_view
from evals.report.view.systems import PromptText, difference, prompt_texts
from evals.report.view.table import Table
from evals.report.view.twins import twin_table


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
class Page:
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
    published: Table
    published_legend: str
    samples: Table
    redraws: Table
    slices: Table
    twins: Table
    confusions: tuple[ConfusionView, ...]
    calibrations: tuple[CalibrationView, ...]
    sweep_command: str
    legend: tuple[tuple[str, str], ...]
    breaches: BreachTable
    disputes: tuple[SuspectList, ...]
    cases: CaseTable
    pictures: tuple[Picture, ...]
    changes: tuple[tuple[Line, ...], ...]
    causes: tuple[Cause, ...]
    sheets: tuple[RuleSheet, ...]
    systems: str
    prompts: tuple[PromptText, ...]
    diffs: tuple[PromptDiff, ...]
    definitions: tuple[Definition, ...]
    guards: Table
    ablations: Table
    costs: Table
    provenance: Table
    texts: tuple[str, ...]
    lists: str


def page(run: Run) -> Page:
    """The view of a run. Pure: the same run gives the same page."""
    pools, lists = pools_for(run), Lists([case.id for case in run.cases])
    diffs = prompt_diffs(run)
    return Page(
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
        published=published_table(run),
        published_legend=LEGEND,
        samples=sample_table(run),
        redraws=redraw_table(run),
        slices=_slices(run),
        twins=twin_table(run),
        confusions=confusion_views(run),
        calibrations=calibration_views(run),
        sweep_command=f"evals sweep {run.suite} --single 0.5:0.95:0.05 --guards all",
        legend=tuple((node, letter) for node, letter in LETTERS.items()),
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
        guards=guard_table(run),
        ablations=ablation_table(run),
        costs=costs(run),
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
    """Route and root cause per archetype and variant, as counts: slices are too small for rates."""
    names = tuple(info.variant.name for info in run.variants)
    archetype = {case.id: case.archetype for case in run.cases}
    passed: Counter[tuple[str, str, str]] = Counter()
    scored: Counter[tuple[str, str, str]] = Counter()
    for trial in run.trials:
        for scorer, _ in MARKED:
            outcome = trial.outcomes.get(scorer)
            if isinstance(outcome, Scored):
                key = (archetype[trial.trace.case_id], trial.trace.variant, scorer)
                scored[key] += 1
                passed[key] += outcome.value == 1
    return Table(
        "Passed of scored, by archetype",
        ("archetype", *(f"{name} {label}" for name in names for _, label in MARKED)),
        tuple(
            (
                kind,
                *(
                    _of(passed[kind, name, scorer], scored[kind, name, scorer])
                    for name in names
                    for scorer, _ in MARKED
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

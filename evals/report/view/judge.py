"""What a model said of the reports of a run, never without how far it can be trusted."""

from dataclasses import dataclass

from evals.models.judge import SCALES
from evals.models.judged import JudgedRun, Judgement, JudgeScore
from evals.models.run import Run
from evals.report.numbers import NOTHING, change, pairs, percent, points, probability
from evals.report.view.judge_check import reliability, trusted
from evals.report.view.table import Table


@dataclass(frozen=True)
class JudgeView:
    """The section of a run's page; its tables in order."""

    sentence: str
    tables: tuple[Table, ...]


def judge_view(run: Run) -> JudgeView | None:
    """The section; None where the suite has no judge."""
    if not isinstance(run, JudgedRun):
        return None
    said = run.judge
    found = (
        scores(run),
        comparisons(said),
        cells(said),
        disagreements(said),
        reliability(said.reliability),
    )
    return JudgeView(sentence(said), tuple(table for table in found if table.rows))


def sentence(said: Judgement) -> str:
    """Who judged, what that rests on, and which report it would rather get."""
    found = said.preferences
    chance = f" (p {probability(found.p_value)})" if found.p_value is not None else ""
    lacking = f", {found.missing} not on tape" if found.missing else ""
    known = said.asked - said.missing
    return (
        f"Judged by {said.model} with prompts {said.version}; {known} of {said.asked} answers are on tape. "
        f"Of two reports it would rather get {found.candidate}'s in {found.better} cases and "
        f"{found.reference}'s in {found.worse}{chance}; {found.tie} ties, {found.contradicted} that the order decides, "
        f"{found.equal} alike{lacking}."
    )


def scores(run: JudgedRun) -> Table:
    """Each question's grades by variant, beside what they were measured to be worth."""
    names = [info.variant.name for info in run.variants]
    by_name = {(score.variant, score.question): score for score in run.judge.scores}
    worth = {each.question: each for each in run.judge.reliability}
    return Table(
        "Grades by a model: mean place on the scale (0 worst, 1 best), and how often each grade",
        ("grade", *names, "balanced accuracy", "may gate"),
        tuple(
            (
                f"judge.{question}",
                *(_cell(by_name[name, question]) for name in names),
                trusted(worth[question]) if question in worth else NOTHING,
                "yes" if question in worth and worth[question].may_gate else "no",
            )
            for question in SCALES
        ),
    )


def comparisons(said: Judgement) -> Table:
    """Paired by case, Holm over the five questions."""
    return Table(
        "Grades compared, in points of the scale",
        ("grade", "of", "against", "cases", "change", "95 %", "p (worse, Holm)", "verdict"),
        tuple(
            (
                item.endpoint,
                item.left,
                item.right,
                pairs(item),
                change(item),
                f"{points(item.low)} to {points(item.high)}" if item.low is not None else NOTHING,
                probability(item.p_holm),
                item.verdict,
            )
            for item in said.comparisons
        ),
    )


def cells(said: Judgement) -> Table:
    """`root_cause.hit` against the judge's grade of the root cause, in trials."""
    grades = tuple(reversed(SCALES["root_cause"]))
    count = {(cell.hit, cell.grade): cell.count for cell in said.cells}
    return Table(
        "root_cause.hit against judge.root_cause, in trials",
        ("root_cause.hit", *grades),
        tuple(
            (name, *(str(count.get((hit, grade), 0)) for grade in grades)) for name, hit in (("1", True), ("0", False))
        ),
    )


def disagreements(said: Judgement) -> Table:
    """Each is a label or a scorer to look at."""
    return Table(
        "Where they disagree: a label or a scorer to look at",
        ("case", "variant", "root_cause.hit", "judge.root_cause", "why", "quoted"),
        tuple(
            (item.case_id, item.variant, str(int(item.hit)), item.grade, item.reason, " · ".join(item.quotes))
            for item in said.disagreements
        ),
    )


def _cell(score: JudgeScore) -> str:
    if score.mean is None:
        return f"{NOTHING} n=0/{score.total}"
    known = f" [{percent(score.low)}, {percent(score.high)}]" if score.low is not None else ""
    told = ", ".join(f"{grade} {count}" for grade, count in score.counts.items())
    return f"{percent(score.mean)}{known} n={score.n}/{score.total} ({told})"

"""What the judge said of a run, and how accurate it is."""

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Final

from evals.models.judge import JudgeAgreement, JudgeCheck, JudgedRun, Judgement, JudgeScore, Rate, Reliability
from evals.models.run import Run
from evals.report.numbers import NOTHING, change, pairs, percent, points, probability, signed
from evals.report.view.page_parts import Table
from evals.statistics.rates import format_rate

ALPHA: Final = 0.05
"""Above it, a preference may be chance."""


def check_page(check: JudgeCheck) -> SimpleNamespace:
    """The view of a check. Pure: the same check gives the same page."""
    return SimpleNamespace(
        suite=check.suite,
        sentence=sentence(check),
        kind="cannot-judge" if check.missing else "not-worse",
        rests_on=rests_on(check),
        tables=tables(check),
        notes=notes(check),
    )


def notes(check: JudgeCheck) -> tuple[str, ...]:
    """Sentences on the place and the length of texts."""
    return (*((position(check),) if check.position.pairs else ()), *lengths(check))


def tables(check: JudgeCheck) -> tuple[Table, ...]:
    """All tables that say anything, the one that decides first."""
    found = (
        reliability(check.reliability),
        defects(check),
        rewordings(check),
        attacks(check),
        agreements(check),
        given(check),
    )
    return tuple(table for table in found if table.rows)


def sentence(check: JudgeCheck) -> str:
    """The one line a reader needs."""
    if check.missing:
        return (
            f"{check.missing} of {check.asked} answers are not recorded; "
            f"`evals plan {check.suite} --judge` says which, `evals record {check.suite} --judge` records them."
        )
    gating = [f"judge.{each.question}" for each in check.reliability if each.may_gate]
    barred = [f"judge.{each.question}" for each in check.reliability if not each.may_gate]
    said = [f"{', '.join(gating)} may gate"] if gating else []
    said += [f"{', '.join(barred)} {'is' if len(barred) == 1 else 'are'} shown and never gate"] if barred else []
    return f"{'; '.join(said)}."


def rests_on(check: JudgeCheck) -> str:
    """What was asked of whom."""
    planted = sum(defect.caught.n for defect in check.defects)
    reworded = sum(next(iter(each.punished.values())).n for each in check.rewordings)
    return (
        f"{check.model} with prompts {check.version}, on {check.originals} good texts of {check.variant}: {planted} "
        f"broken ones, {reworded} harmless rewordings, {len(check.attacks)} attacks; {check.asked - check.missing} of "
        f"{check.asked} answers are recorded."
    )


def reliability(measured: Iterable[Reliability]) -> Table:
    """What each question was found to be worth."""
    return Table(
        "How far each grade can be trusted (95 % intervals; 80 % balanced accuracy to gate)",
        ("grade", "defects caught", "harmless changes spared", "balanced accuracy", "may gate"),
        tuple(
            (
                f"judge.{each.question}",
                shown(each.caught),
                shown(each.spared),
                trusted(each),
                "yes" if each.may_gate else f"no: {_why(each)}",
            )
            for each in measured
        ),
    )


def trusted(each: Reliability) -> str:
    """Balanced accuracy in one cell."""
    if each.balanced is None:
        return NOTHING
    return f"{percent(each.balanced)} [{percent(each.low)}, {percent(each.high)}]"


def defects(check: JudgeCheck) -> Table:
    """Per kind of defect, how often the grade that has to fell, and any."""
    return Table(
        "Planted defects: how often they lower the grade that they have to",
        ("defect", "what is done", "grade", "caught", "any grade fell"),
        tuple(
            (each.kind, each.what, f"judge.{each.question}", shown(each.caught), shown(each.noticed))
            for each in check.defects
        ),
    )


def rewordings(check: JudgeCheck) -> Table:
    """Per harmless change, how often each grade fell for it."""
    return Table(
        "Harmless changes: how often a grade falls for them",
        ("change", "what is done", *check.grades, "mean change in steps"),
        tuple(
            (each.kind, each.what, *(shown(each.punished[name]) for name in check.grades), signed(each.drift))
            for each in check.rewordings
        ),
    )


def attacks(check: JudgeCheck) -> Table:
    """Every attack, and whether it moved the grade that the defect has to lower."""
    known = [each for each in check.attacks if each.before is not None and each.after is not None]
    moved = sum(each.question in each.rose for each in known)
    return Table(
        f"Attacks in spoilt texts: {moved} of {len(known)} raise the grade that the defect has to lower",
        ("attack", "in", "text", "defect", "grade", "without", "with", "rose"),
        tuple(
            (
                each.kind.removeprefix("attack "),
                each.place,
                each.text,
                each.defect,
                f"judge.{each.question}",
                each.before or NOTHING,
                each.after or NOTHING,
                ", ".join(each.rose) or "none",
            )
            for each in check.attacks
        ),
    )


def agreements(check: JudgeCheck) -> Table:
    """How two answers about the same text agree."""
    return Table(
        "The same text, asked about twice",
        ("grade", "the same", "kappa (quadratic weights)"),
        tuple((f"judge.{each.question}", shown(each.same), _kappa(each)) for each in check.agreements),
    )


def given(check: JudgeCheck) -> Table:
    """The grades of the good texts."""
    return Table(
        "Grades of the good texts",
        ("grade", "how often, best first"),
        tuple(
            (f"judge.{name}", ", ".join(f"{grade} {count}" for grade, count in counts.items()))
            for name, counts in check.grades.items()
        ),
    )


def position(check: JudgeCheck) -> str:
    """Whether the place or the length decides between two texts."""
    found = check.position
    return (
        f"Pairs asked in both orders: {found.pairs}. Both orders say the same in {shown(found.consistent)}; where one "
        f"is preferred, it is the first in {shown(found.first)} and the longer in {shown(found.longer)}."
    )


def lengths(check: JudgeCheck) -> tuple[str, ...]:
    """What making a text longer or shorter does to grades."""
    words = {1: "Longer", -1: "Shorter"}
    return tuple(
        f"{words[each.length]} without a new claim: the mean grade moves by {signed(each.drift)} steps."
        for each in check.rewordings
        if each.length
    )


def shown(rate: Rate) -> str:
    """A rate in one cell: share, counts and interval."""
    if not rate.n:
        return NOTHING
    return f"{format_rate(rate.hits, rate.n, 0)} ({rate.hits}/{rate.n}) [{percent(rate.low)}, {percent(rate.high)}]"


def _why(each: Reliability) -> str:
    return f"{each.missing} answers missing" if each.missing else "below 80 %"


def _kappa(each: JudgeAgreement) -> str:
    """Kappa with its interval; none where chance cannot disagree."""
    known = f" [{signed(each.low)}, {signed(each.high)}]" if each.kappa is not None and each.low is not None else ""
    return signed(each.kappa) + known


def judge_view(run: Run) -> SimpleNamespace | None:
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
    return SimpleNamespace(
        prefers=prefers(said), sentence=judge_sentence(said), tables=tuple(table for table in found if table.rows)
    )


def prefers(said: Judgement) -> str:
    """Which of two texts the judge would rather get, and what that rests on; the mean grades where no pair was asked
    about."""
    found = said.preferences
    if not (found.better or found.worse or found.tie or found.contradicted or found.missing):
        return f"grades {'; '.join(_mean_grades(said))}."
    more, less = (
        (found.candidate, found.reference) if found.better > found.worse else (found.reference, found.candidate)
    )
    high, low = max(found.better, found.worse), min(found.better, found.worse)
    chance = f" (p {probability(found.p_value)})" if found.p_value is not None else ""
    if high == low:
        return f"prefers neither: {high} cases each{chance}."
    doubt = "" if found.p_value is not None and found.p_value <= ALPHA else ", which may be chance"
    return f"prefers {more} in {high} cases and {less} in {low}{chance}{doubt}."


def judge_sentence(said: Judgement) -> str:
    """Who judged, which text it would rather get, and what that rests on."""
    found = said.preferences
    lacking = f", {found.missing} not recorded" if found.missing else ""
    known = said.asked - said.missing
    besides = f" Besides: {found.tie} ties, {found.contradicted} that the order decides, {found.equal} alike{lacking}."
    told = prefers(said)
    return (
        f"The judge {told}{'' if told.startswith('grades') else besides} Judged by {said.model} with prompts "
        f"{said.version}; {known} of {said.asked} answers are recorded."
    )


def _mean_grades(said: Judgement) -> Iterator[str]:
    for question in said.scales:
        means = [f"{percent(each.mean)} ({each.variant})" for each in said.scores if each.question == question]
        yield f"judge.{question} {', '.join(means)}"


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
            for question in dict.fromkeys(score.question for score in run.judge.scores)
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
    """The metric that knows the truth against the judge's grade of the same, in trials."""
    metric, question = said.truth
    grades = tuple(dict.fromkeys(cell.grade for cell in said.cells))
    count = {(cell.hit, cell.grade): cell.count for cell in said.cells}
    return Table(
        f"{metric} against {question}, in trials",
        (metric, *grades),
        tuple(
            (name, *(str(count.get((hit, grade), 0)) for grade in grades))
            for name, hit in (("1", True), ("0", False))
            if grades
        ),
    )


def disagreements(said: Judgement) -> Table:
    """Each is a label or a scorer to look at."""
    return Table(
        "Where they disagree: a label or a scorer to look at",
        ("case", "variant", *said.truth, "why", "quoted"),
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

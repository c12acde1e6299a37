"""`summary.md`: verdict and headline for a pull request."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from evals.models.judge import JudgedRun
from evals.models.run import Comparison, Run
from evals.report.numbers import change, pairs, points, probability, rate, smallest_drop
from evals.report.view.headline_table import as_blessed, beaten, best_baseline, in_words, tools_that_ran
from evals.report.view.judge_view import judge_sentence, scores
from evals.report.view.page_parts import Place, Table, section_tables
from evals.report.view.variant_tables import changes_table, measure_table, what_it_costs
from evals.report.view.variant_tables import in_words as in_words_of_samples
from evals.report.view.violations_table import breach_table

if TYPE_CHECKING:
    from evals.application_pack import Pack

_LATER: Final[tuple[Place, ...]] = ("decisions", "prompts")
LIMIT: Final = 64_000
"""Bytes; what is left of a comment is for the mark it is found again by."""
_CUT: Final = "\n*The summary is cut here: the rest is in the report.*\n"
_ACTIVE = re.compile(r"([\\`*_{}\[\]()<>+!|~:.&-])")
_CALLING = re.compile(r"([@#])")  # mentions and issue numbers are found after Markdown: a backslash does not stop them
_ICON = {"not worse": "🟢", "worse": "🔴", "cannot judge": "🟡", "changed": "🟡"}


def summary(run: Run, pack: "Pack | None" = None) -> str:
    """The whole document, with the tables of a pack (of the default one if none is given). Text from issues and models
    is escaped: it must not link, mention or format."""
    return _within(
        [
            f"## {_ICON[run.verdict.status]} {escape(run.verdict.sentence)}",
            "",
            *(f"- **{reason.kind}**: {escape(reason.text)}" for reason in run.verdict.reasons),
            "",
            *_headline(run),
            *_samples(run),
            "",
            *_judge(run),
            *_table(what_it_costs(run)),
            "",
            *_table(changes_table(run)),
            "",
            *_table(breach_table(run)),
            "",
            *_sections(run, pack),
            *_table(measure_table(run)),
            *_among_numbers(run, pack),
            "",
            *_comparisons(run),
            "",
            _footer(run),
            "",
        ]
    )


def _judge(run: Run) -> list[str]:
    """What a model said of the reports, beside what that is worth; nothing where the suite has no judge."""
    if not isinstance(run, JudgedRun):
        return []
    return [escape(judge_sentence(run.judge)), "", *_table(scores(run)), ""]


def _within(lines: Sequence[str]) -> str:
    """The lines as one text, as many as the limit allows."""
    text = "\n".join(lines)
    if len(text.encode()) <= LIMIT:
        return text
    whole = text.encode()[: LIMIT - len(_CUT.encode())]
    return whole[: whole.rfind(b"\n") + 1].decode() + _CUT


def _footer(run: Run) -> str:
    answered = escape(", ".join(run.recorded_by)) or "nobody yet"
    scope = f" {escape(in_words(run.scope))}" if run.scope else ""
    verdict = run.verdict
    code = f"Exit code {verdict.exit_code} ({verdict.status})."
    return f"Suite {escape(run.suite)}, answered by {answered}. {code}{scope} {escape(tools_that_ran(run))}".rstrip()


def _headline(run: Run) -> Iterable[str]:
    primary = [scorer.name for scorer in run.scorers if scorer.primary]
    cells = {(item.variant, item.scorer): item for item in run.summaries}
    yield _row("variant", "exact trials", *map(escape, primary))
    yield _row(*["---"] * (len(primary) + 2))
    for info in run.variants:
        name = info.variant.name
        coverage = run.coverage[name]
        yield _row(
            escape(name), f"{coverage.exact}/{coverage.total}", *(rate(cells[name, scorer]) for scorer in primary)
        )
    if run.dataset_baselines:
        yield _row(
            "floor (no model)",
            f"{len(run.cases)} cases",
            *(escape(beaten(best_baseline(run, scorer))) for scorer in primary),
        )


def _table(table: Table) -> Iterable[str]:
    """A table of the report as it stands there; nothing of an empty one."""
    if not table.rows:
        return
    yield f"**{escape(table.caption)}**"
    yield ""
    yield _row(*map(escape, table.head))
    yield _row(*["---"] * len(table.head))
    yield from (_row(*map(escape, row)) for row in table.rows)


def _sections(run: Run, pack: "Pack | None") -> Iterable[str]:
    """The tables of the pack's sections, but for those among the numbers."""
    for place in _LATER:
        for table in section_tables(run, place, pack):
            yield from (*_table(table), "")


def _among_numbers(run: Run, pack: "Pack | None") -> Iterable[str]:
    for table in section_tables(run, "numbers", pack):
        yield from ("", *_table(table))


def _samples(run: Run) -> Iterable[str]:
    for found in run.samples:
        yield ""
        yield escape(in_words_of_samples(found))


_COMPARISON: Final = (
    *("comparison", "metric", "pairs", "points", "95 %", "better", "worse"),
    *("p (Holm)", "smallest detectable drop", "says"),
)


def _comparisons(run: Run) -> Iterable[str]:
    shown = [item for item in run.comparisons if not as_blessed(item)]
    if shown:
        yield _row(*_COMPARISON)
        yield _row(*["---"] * len(_COMPARISON))
    for item in shown:
        yield _row(
            escape(f"{item.left} against {item.right}"),
            escape(item.endpoint),
            pairs(item),
            change(item),
            _interval(item),
            str(len(item.mended)),
            str(len(item.broke)),
            probability(item.p_holm),
            smallest_drop(item),
            item.verdict,
        )

    unchanged = list(dict.fromkeys(item.left for item in run.comparisons if as_blessed(item)))
    if unchanged:
        yield ""
        same = escape(", ".join(unchanged))
        yield f"Against the baseline, primary metrics not listed are as blessed in every case: {same}."


def _interval(item: Comparison) -> str:
    return f"{points(item.low)} to {points(item.high)}" if item.low is not None else "n/a"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def escape(text: str) -> str:
    """Markdown's active characters and control characters made inert; line breaks become blanks."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return _CALLING.sub(r"\1&#8203;", _ACTIVE.sub(r"\\\1", flat))

"""Scorers of the report: root cause, ranking, retrieval, severity and injected instructions."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scoring.scorer import NotApplicable, Scorer, ScoringFunction, scorer
from evals.triage.typed_views import fix_lines, report_of, repository_files


def hit_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> bool:
    """Whether any of the first `k` is right."""
    return not gold.isdisjoint(ranked[:k])


def all_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> bool:
    """Whether everything that is right stands among the first `k`; never so when there is more of it than `k`."""
    return gold <= set(ranked[:k])


def filled_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> bool:
    """Whether the first `k` hold as much that is right as `k` places can: min(|gold|, k) of it.

    The accuracy of LocAgent's published evaluation (Chen et al. 2025). It differs from `all_at` only where |gold| > k:
    there `k` right places are enough.
    """
    return len(gold.intersection(ranked[:k])) == min(len(gold), k)


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """1 / rank of the first right one; 0 if there is none."""
    return next((1 / rank for rank, name in enumerate(ranked, 1) if name in gold), 0.0)


def average_precision(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """The precision at each right one, summed and divided by |gold|: what is never named costs its whole share."""
    hits = [rank for rank, name in enumerate(ranked, 1) if name in gold]
    return sum(found / rank for found, rank in enumerate(hits, 1)) / len(gold)


def precision(named: Sequence[str], gold: frozenset[str]) -> float:
    """Share of what is named that is right; 0 if nothing is named."""
    return sum(name in gold for name in named) / len(named) if named else 0.0


def recall(named: Sequence[str], gold: frozenset[str]) -> float:
    """Share of what is right that is named."""
    return len(gold.intersection(named)) / len(gold)


def harmonic_mean(one: float, other: float) -> float:
    """F1 of a precision and a recall; 0 if both are."""
    return 2 * one * other / (one + other) if one + other else 0.0


_SUFFIXES: Final = (
    "py|pyi|pyx|toml|cfg|ini|ya?ml|json|md|rst|txt|sh|sql|html|lock"
    "|[cm]?[jt]s|[jt]sx|c|h|cc|cpp|cxx|hh|hpp|hxx|cs|go|rs|java|rb|rake"
)
_PATH: Final = re.compile(rf"(?<![\w/.\\:-])(?:[A-Za-z]:)?[\w.~@+/\\-]*\w\.(?:{_SUFFIXES})(?!\w|\.\w|-\w)")
_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+")
_FUNCTION: Final = re.compile(
    r"""["'`)]*                      # the quote the path stood in
        (?:::?\d+)*                  # :line or :line:column
        (?:,?\s*\(?line\s+\d+\)?)?   # , line 12
        (?:::?["'`]*(?P<joined>[A-Za-z_]\w*)
          |,?\s+in\s+(?:(?:the\s+)?(?:function|method|class)\s+)?["'`]*(?P<spoken>[A-Za-z_]\w*)
           (?=[\w.]*(?:\(|["'`,;)]|\.?\s*$)))  # a lone name, not the first word of a sentence
    """,
    re.VERBOSE,
)


def ranked_files(trace: Trace) -> tuple[str, ...]:
    """The files named by the trace's report, normalised, most suspected first; empty without a report."""
    return tuple(dict.fromkeys(path for path, _ in _mentions(trace)))


def ranked_functions(trace: Trace) -> tuple[str, ...]:
    """The functions named together with a file, as `path::outermost`, in the same order.

    Read are `path::name`, `path:name`, `path:12:name`, `path in name` and a traceback's `"path", line 12, in name`.
    Only the outermost name counts (`Class.method` -> `Class`), as in the labels.
    """
    return tuple(dict.fromkeys(f"{path}::{name}" for path, name in _mentions(trace) if name))


def normalised(path: str, repository_files: frozenset[str]) -> str:
    """A path as the repository spells it where that can be told by dropping leading directories; else cleaned only."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    tails = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((tail for tail in tails if tail in repository_files), "/".join(parts))


def _mentions(trace: Trace) -> Iterator[tuple[str, str | None]]:
    report = report_of(trace)
    if report is None:
        return
    known = frozenset(repository_files(trace))
    for text in (report.root_cause_location or "", *report.affected_files):
        if text.strip() in known:  # a file without a telling suffix, spelt as the repository spells it
            yield text.strip(), None
            continue
        prose = _URL.sub(" ", text)
        for match in _PATH.finditer(prose):
            function = _FUNCTION.match(prose, match.end())
            yield normalised(match[0], known), (function["joined"] or function["spoken"]) if function else None


def explanations(case: Case, one: Literal["file", "function"]) -> tuple[frozenset[str], ...]:
    """The sets of files (or functions) either of which explains the whole fault: gold, and the labelled alternative.
    Raises `NotApplicable` where none is to blame."""
    gold, alternative = (getattr(labels, f"{one}s") for labels in (case.labels.gold, case.labels.alternatives))
    if not gold:
        raise NotApplicable(f"no {one} of the repository is to blame")
    return tuple(frozenset(names) for names in (gold, alternative) if names)


def blamed_rightly(case: Case, trace: Trace) -> bool:
    """The value of `root_cause.hit`: the right first file, or none named where none is to blame."""
    if report_of(trace) is None:
        return False
    right = {*case.labels.gold.files, *case.labels.alternatives.files}
    named = ranked_files(trace)
    return named[0] in right if named else not case.labels.gold.files


@scorer("root_cause.hit", unit="fraction", better="higher", primary=True, label="gold")
def root_cause_hit(case: Case, trace: Trace) -> bool:
    """1 if the first file the report names is to blame (gold or labelled alternative), or if it names none where no
    file is to blame; 0 without a report. Never skipped."""
    return blamed_rightly(case, trace)


@scorer("root_cause.grounding", unit="fraction", better="higher", label="gold")
def grounding(case: Case, trace: Trace) -> float:  # noqa: ARG001  every scorer takes the case
    """Share of the named files that exist in the repository; skipped if none is named or the files are not known."""
    named = ranked_files(trace)
    known = repository_files(trace)
    if not named or not known:
        raise NotApplicable("the report names no file" if not named else "the repository's files are not known")
    return sum(path in known for path in named) / len(named)


@scorer("root_cause.category", unit="fraction", better="higher", label="category")
def category(case: Case, trace: Trace) -> float:
    """1 if the report's category is the labelled one; 0 without a report."""
    report = report_of(trace)
    return float(report is not None and report.category == case.labels.category)


@scorer("root_cause.text_overlap", unit="fraction", better="higher", label="root_cause")
def text_overlap(case: Case, trace: Trace) -> float:
    """A diagnostic, no judge of truth: F1 of the words that the report's root cause shares with the labelled sentence,
    upper and lower case alike; 0 without a report."""
    report = report_of(trace)
    told = Counter(_words(report.root_cause if report else ""))
    wanted = Counter(_words(case.labels.root_cause))
    shared = (told & wanted).total()
    return harmonic_mean(shared / told.total(), shared / wanted.total()) if shared else 0.0


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


class Ranked(NamedTuple):
    """What a report names, best first, and the sets either of which explains the whole fault."""

    named: tuple[str, ...]
    ways: tuple[frozenset[str], ...]

    @property
    def right(self) -> frozenset[str]:
        """All that is to blame."""
        return frozenset().union(*self.ways)


def _hit(rank: int) -> Callable[[Ranked], float]:
    return lambda found: float(hit_at(found.named, found.right, rank))


def _all(rank: int) -> Callable[[Ranked], float]:
    return lambda found: float(any(all_at(found.named, way, rank) for way in found.ways))


def _recall(found: Ranked) -> float:
    return max(recall(found.named, way) for way in found.ways)


_HIT = "1 if any of the first {rank} {{one}}s the report names is to blame; skipped where no {{one}} is to blame."
_ALL = (
    "1 if all {{one}}s to blame (or all of the labelled alternative) are among the first {rank} that the report names; "
    "skipped where none is to blame."
)
_FORMULAS: Final[dict[str, tuple[str, Callable[[Ranked], float]]]] = {
    "hit_at_1": ("1 if the first {one} the report names is to blame; skipped where no {one} is to blame.", _hit(1)),
    "hit_at_3": (_HIT.format(rank="three"), _hit(3)),
    "hit_at_5": (_HIT.format(rank="five"), _hit(5)),
    "all_at_1": (
        (
            "1 if the one {one} to blame (or the one labelled alternative) is the first that the report names, 0 where "
            "two are needed; skipped where none is to blame."
        ),
        _all(1),
    ),
    "all_at_3": (_ALL.format(rank="three"), _all(3)),
    "all_at_5": (_ALL.format(rank="five"), _all(5)),
    "mrr": (
        "1 / rank of the first named {one} that is to blame, 0 if none is named; skipped where no {one} is to blame.",
        lambda found: reciprocal_rank(found.named, found.right),
    ),
    "ap": (
        (
            "Average precision: sum of the precision at each gold {one} named, divided by the number of gold {one}s; "
            "skipped where no {one} is to blame."
        ),
        lambda found: max(average_precision(found.named, way) for way in found.ways),
    ),
    "precision": (
        "Share of the named {one}s that are to blame, 0 if none is named; skipped where no {one} is to blame.",
        lambda found: precision(found.named, found.right),
    ),
    "recall": (
        (
            "Share of the {one}s to blame (or of the labelled alternative, if higher) that are named; skipped where "
            "none is to blame."
        ),
        _recall,
    ),
    "f1": (
        "Harmonic mean of precision and recall, 0 if both are; skipped where no {one} is to blame.",
        lambda found: harmonic_mean(precision(found.named, found.right), _recall(found)),
    ),
}


def _of_files(case: Case, trace: Trace) -> Ranked:
    return Ranked(ranked_files(trace), explanations(case, "file"))


def _of_functions(case: Case, trace: Trace) -> Ranked:
    return Ranked(ranked_functions(trace), explanations(case, "function"))


def _applied(value: Callable[[Ranked], float], read: Callable[[Case, Trace], Ranked]) -> ScoringFunction:
    return lambda case, trace: value(read(case, trace))


def _scorers(one: str, label: str, read: Callable[[Case, Trace], Ranked], names: Mapping[str, str]) -> Iterator[Scorer]:
    """Every formula for one kind; `names` are those that do not follow the rule."""
    for formula, (definition, value) in _FORMULAS.items():
        yield Scorer(
            name=f"root_cause.{names.get(formula, f'{one}_{formula}')}",
            unit="fraction",
            better="higher",
            definition=definition.format(one=one),
            function=_applied(value, read),
            label=label,
        )


FILES: Final = tuple(
    _scorers("file", "gold", _of_files, {formula: f"set_{formula}" for formula in ("precision", "recall", "f1")})
)
FUNCTIONS: Final = tuple(_scorers("function", "functions", _of_functions, {"hit_at_1": "function_hit"}))


@scorer("retrieval.gold_shown", unit="fraction", better="higher")
def gold_shown(case: Case, trace: Trace) -> float:
    """Share of the functions to blame (of the files, if the labels name no function) that the first code search showed
    its model; skipped where nothing is to blame or the code was not searched."""
    ways = explanations(case, "function" if case.labels.gold.functions else "file")
    shown = next((visit.read for visit in trace.visits if visit.node == "codebase_search" and visit.read), None)
    if shown is None:
        raise NotApplicable("no code search was shown anything")
    named = tuple(_outermost(symbol) if case.labels.gold.functions else symbol.partition("::")[0] for symbol in shown)
    return max(recall(named, way) for way in ways)


@scorer("retrieval.gold_lines_shown", unit="fraction", better="higher")
def gold_lines_shown(case: Case, trace: Trace) -> float:  # noqa: ARG001  as above
    """Share of the lines that the fix edits in the functions to blame that any code search of the trial showed its
    model; skipped where no such lines are known."""
    wanted = _lines(fix_lines(trace))
    if not wanted:
        raise NotApplicable("no lines are known that the fix edits in a function to blame")
    shown = _lines(place for visit in trace.visits if visit.node == "codebase_search" for place in visit.places)
    return len(wanted & shown) / len(wanted)


def _lines(places: Iterable[str]) -> set[tuple[str, int]]:
    """(path, number) of each line of places given as `path:first-last`."""
    split = (re.fullmatch(r"(.*):(\d+)-(\d+)", place) for place in places)
    return {(one[1], number) for one in split if one for number in range(int(one[2]), int(one[3]) + 1)}


def _outermost(symbol: str) -> str:
    """`path::Class.function` as the labels have it: `path::Class`."""
    path, _, name = symbol.partition("::")
    return f"{path}::{name.partition('.')[0]}"

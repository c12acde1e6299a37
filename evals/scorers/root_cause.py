"""Scores of the root cause: the right first file or the right abstention, files that exist, category, and wording.

Rankings of files and functions are in `ranked_files` and `ranked_functions`; labelled alternatives are as good as gold.
"""

import re
from collections import Counter

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.blame import blamed_rightly
from evals.scorers.naming import ranked_files
from evals.scorers.scorer import NotApplicable, scorer
from evals.stats.ranking import harmonic_mean


@scorer("root_cause.hit", unit="fraction", better="higher", primary=True)
def root_cause_hit(case: Case, trace: Trace) -> float:
    """1 if the first file the report names is to blame (gold or labelled alternative), or if it names none where no
    file is to blame; 0 without a report. Never skipped."""
    return blamed_rightly(case, trace)


@scorer("root_cause.grounding", unit="fraction", better="higher")
def grounding(case: Case, trace: Trace) -> float:  # noqa: ARG001  every scorer takes the case
    """Share of the named files that exist in the repository; skipped if none is named or the files are not known."""
    named = ranked_files(trace)
    if not named or not trace.repository_files:
        raise NotApplicable("the report names no file" if not named else "the repository's files are not known")
    return sum(path in trace.repository_files for path in named) / len(named)


@scorer("root_cause.category", unit="fraction", better="higher")
def category(case: Case, trace: Trace) -> float:
    """1 if the report's category is the labelled one; 0 without a report."""
    return float(trace.report is not None and trace.report.category == case.labels.category)


@scorer("root_cause.text_overlap", unit="fraction", better="higher")
def text_overlap(case: Case, trace: Trace) -> float:
    """A diagnostic, no judge of truth: F1 of the words that the report's root cause shares with the labelled sentence,
    upper and lower case alike; 0 without a report."""
    told = Counter(_words(trace.report.root_cause if trace.report else ""))
    wanted = Counter(_words(case.labels.root_cause))
    shared = (told & wanted).total()
    return harmonic_mean(shared / told.total(), shared / wanted.total()) if shared else 0.0


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())

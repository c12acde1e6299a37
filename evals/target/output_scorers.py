"""Ready-made scorers of a target's output."""

import re
from typing import Final

from pydantic import JsonValue

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scoring.scorer import NotApplicable, Scorer, scorer
from evals.target.cases import Expected


@scorer("output.expected", unit="fraction", better="higher", primary=True, label="expected")
def output_expected(case: Case, trace: Trace) -> float:
    """Share of the case's checks of the output that hold: equal, contains (upper and lower case alike), regex, number
    within. A member that is missing fails all its checks."""
    held = [
        held
        for name, expected in case.labels.expected.items()
        for held in checks(expected, trace.output.get(name), missing=name not in trace.output)
    ]
    if not held:
        raise NotApplicable("the case checks nothing of the output")
    return sum(held) / len(held)


def checks(expected: Expected, value: JsonValue, *, missing: bool = False) -> list[bool]:
    """Whether each check holds for a value, in the order equal, contains, regex, number."""
    text = value if isinstance(value, str) else str(value)
    found: list[bool] = []
    if "equal" in expected.model_fields_set:
        found.append(value == expected.equal)
    found += [part.casefold() in text.casefold() for part in expected.contains]
    if expected.regex is not None:
        found.append(re.search(expected.regex, text) is not None)
    if expected.number is not None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        found.append(is_number and abs(float(text) - expected.number.value) <= expected.number.within)
    return [False] * len(found) if missing else found


SCORERS: Final[tuple[Scorer, ...]] = (output_expected,)

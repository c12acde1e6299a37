"""What a label demands hard stands without any recorded answer: each visit it demands carries its proof.

A route that is failed for a visit it did without has to be wrong whatever it found. So whoever demands a visit names
where its evidence lies, and that nothing else brings it; the rest is a preference, and soft.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from evals.dataset.checks.place import at_label
from evals.dataset.finding import Complaint, Subject
from evals.models.case import Archetype
from evals.models.route import Constraint, ConstraintType, RouteNode

DEMANDS_A: Final[frozenset[ConstraintType]] = frozenset({"existence", "precedence", "chain_precedence"})
DEMANDS_B: Final[frozenset[ConstraintType]] = frozenset({"response", "chain_response"})
ALWAYS_REVIEWED: Final[frozenset[Archetype]] = frozenset({"security", "data_corruption"})
Proof = Callable[[Subject, Constraint, str], str | None]
"""What is wrong with it; None if it holds. The string is what stands behind the name of the proof."""


def demands_are_proved(subject: Subject) -> Iterator[Complaint]:
    """Whatever a hard constraint demands a visit of has a proof of its kind, and none demands two of one, or forbids a
    search or a review."""
    for index, label in enumerate(subject.case.labels.route):
        for place, rule in enumerate(label.constraints):
            for fault in _faults(subject, rule):
                message = f"{rule.id!r} is hard and {fault}; prove it or make it soft"
                yield at_label(subject, message, "route", index, "constraints", place)


def _faults(subject: Subject, rule: Constraint) -> Iterator[str]:
    if not rule.hard:
        return
    if rule.type in {"existence", "absence"} and rule.min is None:
        least = rule.max if rule.type == "existence" else 0
        if least == 0 and not {"human_input", "writer"}.issuperset(rule.a):
            yield f"forbids {' and '.join(rule.a)}, which costs no person anything"
        return
    if (rule.min or 0) > 1:
        yield f"demands {rule.min} visits, though a single one may show everything"
    demanded = rule.a if rule.type in DEMANDS_A else rule.b if rule.type in DEMANDS_B else ()
    for node in demanded:
        if node not in PROOFS:
            continue
        given = [proof.partition(" ") for proof in rule.proof if proof.partition(" ")[0] in PROOFS[node]]
        if not given:
            yield f"demands {node} without a proof ({' or '.join(PROOFS[node])})"
        faults = (PROOFS[node][name](subject, rule, rest) for name, _, rest in given)
        yield from (f"its proof does not hold: {fault}" for fault in faults if fault)


def _gold(subject: Subject, _rule: Constraint, _: str) -> str | None:
    """The fault is in a file, and nothing but this search reads files."""
    return None if subject.case.labels.gold.files else "no file is to blame; name the file that shows it: code PATH"


def _code(subject: Subject, _rule: Constraint, path: str) -> str | None:
    """The behaviour is to be read in a file of the codebase, and nothing but this search reads files."""
    return None if path and (subject.clean / path).is_file() else f"there is no file {path!r} in the codebase"


def _page(subject: Subject, _rule: Constraint, _: str) -> str | None:
    """The fact is the world's; the first page of `web` states it."""
    return None if subject.case.labels.web else "`web` names no page that states the fact"


def _user(subject: Subject, _rule: Constraint, _: str) -> str | None:
    """Only a person knows it: a question is required, and the simulated user has the answer."""
    question = subject.case.labels.question
    known = question.policy == "required" and question.answers
    return None if known else "no question is required, or nobody knows an answer"


def _harm(subject: Subject, rule: Constraint, _: str) -> str | None:
    """A wrong report would do harm before anybody could notice."""
    if subject.case.labels.archetype in ALWAYS_REVIEWED or "confidence" in (rule.condition or {}):
        return None
    return f"a sure report does no harm in a case of {subject.case.labels.archetype}"


PROOFS: Final[Mapping[RouteNode, Mapping[str, Proof]]] = {
    "codebase_search": {"gold": _gold, "code": _code},
    "web_search": {"page": _page},
    "human_input": {"user": _user},
    "critic": {"harm": _harm},
}
"""By node. Investigator and writer need none: a job begins with the issue and ends with its report."""

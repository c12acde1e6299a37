"""A route specification that lets almost everything through, or rejects its own examples, measures nothing."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from evals.dataset.checks.place import at_case, at_label
from evals.dataset.finding import Complaint, Corpus, Edges, Subject
from evals.dataset.passing import strictness_of
from evals.models.route import RouteNode
from evals.routes.selftest import mutants, rejected_exemplars
from evals.routes.spec import spec_faults

MAX_SHARE: Final = 0.01


def spec_is_sound(subject: Subject) -> Iterator[Complaint]:
    """Every constraint has what its type needs, ids differ, the step target is not above the maximum."""
    for fault in spec_faults(subject.case.route_spec):
        yield at_label(subject, fault, "route")


def exemplars_pass(subject: Subject) -> Iterator[Complaint]:
    """Every exemplar passes its own alternative under the policy."""
    rejected = rejected_exemplars(subject.case.route_spec)
    for index, alternative in enumerate(subject.case.route_spec.alternatives):
        for place, exemplar in enumerate(alternative.exemplars):
            if exemplar in rejected:
                message = f"the exemplar {_arrows(exemplar)} fails its own specification"
                yield at_label(subject, message, "route", index, "exemplars", place)


def spec_is_strict(subject: Subject) -> Iterator[Complaint]:
    """Of all node sequences of up to six visits, fewer than one in a hundred pass; found out once a specification."""
    share = strictness_of(subject.case.route_spec, subject.cache).share
    if share >= MAX_SHARE:
        yield at_label(
            subject, f"{share:.2%} of all routes pass; below {MAX_SHARE:.0%} a pass means something", "route"
        )


def mutants_are_killed(subject: Subject) -> Iterator[Complaint]:
    """No exemplar can be spoilt unnoticed: one complaint per kind of damage, with the first route that got through."""
    alive = [mutant for mutant in mutants(subject.case.route_spec) if not mutant.killed]
    counts = Counter(mutant.kind for mutant in alive)
    for kind, count in sorted(counts.items()):
        first = next(mutant for mutant in alive if mutant.kind == kind)
        yield at_label(subject, f"{kind} goes unnoticed {count} times, e.g. {_arrows(first.visits)}", "route")


def routes_are_possible(corpus: Corpus) -> Iterator[Complaint]:
    """Each step of each exemplar is one the compiled graph can take; a route may stop where the user is asked."""
    edges = corpus.surroundings.edges
    if edges is None:
        return
    for case in corpus.cases.values():
        for index, alternative in enumerate(case.route_spec.alternatives):
            for place, exemplar in enumerate(alternative.exemplars):
                for one, other in _impossible_steps(exemplar, edges):
                    message = f"the exemplar {_arrows(exemplar)} goes {one} → {other}, which the graph cannot"
                    yield at_case(corpus, case, message, "route", index, "exemplars", place)


def _impossible_steps(exemplar: tuple[RouteNode, ...], edges: Edges) -> Iterator[tuple[str, str]]:
    ends = () if exemplar[-1:] == ("human_input",) else ("end",)
    return (step for step in pairwise(("start", *exemplar, *ends)) if step not in edges)


def _arrows(route: tuple[RouteNode, ...]) -> str:
    return " → ".join(route) or "(no visit)"

"""Checks of labels, route specifications and decision points."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from evals.models.case import Case, Choice, Constraint, ConstraintType, DecisionPoint, RouteAlternative, RouteNode
from evals.routes.constraints import spec_faults
from evals.triage.dataset.checks.text_checks import at_case, at_label
from evals.triage.dataset.dataset_layout import Archetype, Category, Severity
from evals.triage.dataset.derive_gold import outermost_names
from evals.triage.dataset.lint_types import Complaint, Corpus, Edges, LintedCase
from evals.triage.dataset.route_strictness import mutants, rejected_exemplars, strictness_of

DEMANDS_A: Final[frozenset[ConstraintType]] = frozenset({"existence", "precedence", "chain_precedence"})
DEMANDS_B: Final[frozenset[ConstraintType]] = frozenset({"response", "chain_response"})
ALWAYS_REVIEWED: Final[frozenset[Archetype]] = frozenset({"security", "data_corruption"})
Proof = Callable[[LintedCase, Constraint, str], str | None]
"""What is wrong with it; None if it holds. The string is what stands behind the name of the proof."""


def demands_are_proved(subject: LintedCase) -> Iterator[Complaint]:
    """Whatever a hard constraint demands a visit of has a proof of its kind, and none demands two of one, or forbids a
    search or a review."""
    for index, label in enumerate(subject.case.labels.route):
        for place, rule in enumerate(label.constraints):
            for fault in _faults(subject, rule):
                message = f"{rule.id!r} is hard and {fault}; prove it or make it soft"
                yield at_label(subject, message, "route", index, "constraints", place)


def _faults(subject: LintedCase, rule: Constraint) -> Iterator[str]:
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


def _gold(subject: LintedCase, _rule: Constraint, _: str) -> str | None:
    """The fault is in a file, and nothing but this search reads files."""
    return None if subject.case.labels.gold.files else "no file is to blame; name the file that shows it: code PATH"


def _code(subject: LintedCase, _rule: Constraint, path: str) -> str | None:
    """The behaviour is to be read in a file of the codebase, and nothing but this search reads files."""
    return None if path and (subject.clean / path).is_file() else f"there is no file {path!r} in the codebase"


def _page(subject: LintedCase, _rule: Constraint, _: str) -> str | None:
    """The fact is the world's; the first page of `web` states it."""
    return None if subject.case.labels.web else "`web` names no page that states the fact"


def _user(subject: LintedCase, _rule: Constraint, _: str) -> str | None:
    """Only a person knows it: a question is required, and the simulated user has the answer."""
    question = subject.case.labels.question
    known = question.policy == "required" and question.answers
    return None if known else "no question is required, or nobody knows an answer"


def _harm(subject: LintedCase, rule: Constraint, _: str) -> str | None:
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


# Left out are archetypes of form (injection, log, language) and those that may turn out either way.
CATEGORY_OF: Final[Mapping[Archetype, Category]] = {
    "local_bug": "code",
    "symptom_only": "code",
    "misleading_trace": "code",
    "regression": "code",
    "race": "code",
    "security": "code",
    "performance": "code",
    "data_corruption": "code",
    "multi_cause": "code",
    "third_party": "third_party",
    "usage_question": "not_a_bug",
    "feature_request": "feature",
    "duplicate": "duplicate",
}
HARMLESS: Final[frozenset[Category]] = frozenset({"feature", "not_a_bug"})
URGENT: Final[frozenset[Severity]] = frozenset({"CRITICAL", "HIGH"})


def category_fits(subject: LintedCase) -> Iterator[Complaint]:
    """The category is `code` exactly where there is gold (a duplicate may have its original's), and is what the
    archetype says where that leaves no choice."""
    labels = subject.case.labels
    expected = CATEGORY_OF.get(labels.archetype, labels.category)
    if labels.category != expected:
        yield at_label(subject, f"is {labels.category!r}, but a {labels.archetype} is {expected!r}", "category")
    if labels.category == "code" and not labels.gold.files:
        yield at_label(subject, "is 'code', but gold names no file", "category")
    if labels.category not in ("code", "duplicate") and (labels.gold.files or labels.gold.functions):
        yield at_label(subject, f"is {labels.category!r}, so no file is to blame; gold must be empty", "gold")


def severity_fits(subject: LintedCase) -> Iterator[Complaint]:
    """A wish or a question is not urgent."""
    labels = subject.case.labels
    if labels.category in HARMLESS and labels.severity in URGENT:
        yield at_label(subject, f"is {labels.severity}, but {labels.category!r} is LOW or MEDIUM", "severity")


def duplicate_names_its_original(corpus: Corpus) -> Iterator[Complaint]:
    """Duplicates, and only they, name an original: another case of the same codebase, no duplicate itself, with the
    same gold where they have any."""
    for case in corpus.cases.values():
        labels = case.labels
        if labels.duplicate_of is None:
            if labels.category == "duplicate":
                yield at_case(corpus, case, "is a duplicate of what? name the case under `duplicate_of`", "category")
            continue
        original = corpus.cases.get(labels.duplicate_of)
        if labels.category != "duplicate":
            yield at_case(corpus, case, f"names an original, but is {labels.category!r}", "duplicate_of")
        elif original is None or original.id == case.id or original.labels.codebase != labels.codebase:
            message = f"{labels.duplicate_of!r} is no other case of the codebase {labels.codebase!r}"
            yield at_case(corpus, case, message, "duplicate_of")
        elif original.labels.category == "duplicate":
            yield at_case(corpus, case, f"{original.id!r} is a duplicate itself; name its original", "duplicate_of")
        elif labels.gold.files and labels.gold != original.labels.gold:
            yield at_case(corpus, case, f"gold differs from that of the original {original.id!r}", "gold")


def gold_is_in_the_code(subject: LintedCase) -> Iterator[Complaint]:
    """Every file of the gold stands in the code, and every function is an outermost definition of its file."""
    gold = subject.case.labels.gold
    for name in gold.files:
        if not (subject.patched / name).is_file():
            code = subject.case.labels.codebase or f"{subject.case.repository} before the fix"
            yield at_label(subject, f"{name}: is no file of {code}", "gold", "files")
    for function in gold.functions:
        file, _, name = function.partition("::")
        if name not in outermost_names(subject.patched / file):
            yield at_label(subject, f"{function}: no such function or class is defined there", "gold", "functions")


MIN_KEYWORDS: Final = 5  # people ask for one thing in many words; a topic nobody can hit is no answer
ASKING: Final[frozenset[Archetype]] = frozenset({"environment_ambiguity", "insufficient_information"})


def scripted_answers_exist(subject: LintedCase) -> Iterator[Complaint]:
    """Where a question is required the simulated user knows something, in words a question can touch; no topic is
    scripted twice."""
    question = subject.case.labels.question
    if question.policy == "required" and not question.answers:
        yield at_label(subject, "a question is required, but `answers` is empty", "question")
    seen: set[str] = set()
    for index, answer in enumerate(question.answers):
        if answer.topic in seen:
            yield at_label(subject, f"the topic {answer.topic!r} is scripted twice", "question", "answers", index)
        seen.add(answer.topic)
        if question.policy == "required" and len(set(answer.keywords)) < MIN_KEYWORDS:
            message = f"the topic {answer.topic!r} has {len(set(answer.keywords))} keywords; {MIN_KEYWORDS} are needed"
            yield at_label(subject, message, "question", "answers", index)


def question_fits_route(subject: LintedCase) -> Iterator[Complaint]:
    """Exemplars ask in every alternative where a question is required, and never where it is forbidden."""
    for index, alternative in enumerate(subject.case.route_spec.alternatives):
        for message in _disagreements(alternative):
            yield at_label(subject, message, "route", index, "exemplars")
        if alternative.question == "forbidden" and alternative.node_max.get("human_input") != 0:
            message = "a question is forbidden, but node_max.human_input is not 0"
            yield at_label(subject, message, "route", index, "node_max")


def question_fits_archetype(corpus: Corpus) -> Iterator[Complaint]:
    """Where information is missing the user has to be asked: in the case, or in the twin it was restored from."""
    asking = {case.cluster for case in corpus.cases.values() if case.labels.question.policy == "required"}
    for case in corpus.cases.values():
        if case.labels.archetype in ASKING and case.cluster not in asking:
            message = f"{case.labels.archetype}, but neither here nor in a twin is a question required"
            yield at_case(corpus, case, message, "question")


def _disagreements(alternative: RouteAlternative) -> Iterator[str]:
    asking = ["human_input" in exemplar for exemplar in alternative.exemplars]
    if alternative.question == "required" and not all(asking):
        yield "a question is required, but an exemplar does without human_input"
    if alternative.question == "forbidden" and any(asking):
        yield "a question is forbidden, but an exemplar visits human_input"


State = Mapping[str, Any]
Say = tuple[set[Choice] | None, set[Choice]]
MAX_QUESTIONS: Final = 2
MAX_FAILURES: Final = 2
MAX_SEARCHES: Final = 2
DEFAULT_MAX_ITERATIONS: Final = 10
SURE: Final = 0.85
NO_SAY: Final[Say] = (None, set())


def nothing_after_the_report(state: State) -> Say:
    """With the report written there is nothing left but to end."""
    return ({"end"}, set()) if state.get("report") else (None, {"end"})


def the_limit_ends_it(state: State) -> Say:
    """At the iteration limit the next stop is the writer."""
    spent = state.get("iterations", 0) >= state.get("max_iterations", DEFAULT_MAX_ITERATIONS)
    return ({"writer"}, set()) if spent and not state.get("report") else NO_SAY


def the_investigator_is_first(state: State) -> Say:
    """Nothing comes before the investigator."""
    return NO_SAY if state.get("visits") else ({"investigator"}, set())


def two_questions_at_most(state: State) -> Say:
    """Both questions are spent."""
    return (None, {"human_input"}) if len(state.get("human_exchanges", ())) >= MAX_QUESTIONS else NO_SAY


def two_code_searches_at_most(state: State) -> Say:
    """The code was searched twice, and nobody asked for more."""
    asked_for = state.get("redirect_instructions") or len(state.get("human_exchanges", ())) >= MAX_QUESTIONS
    spent = list(state.get("visits", ())).count("codebase_search") >= MAX_SEARCHES
    return (None, {"codebase_search"}) if spent and not asked_for else NO_SAY


def one_critic_at_most(state: State) -> Say:
    """The critic has spoken, and is heard once."""
    spoken = "critic" in (finding.get("agent_name") for finding in state.get("findings", ()))
    return (None, {"critic"}) if spoken or state.get("critic_feedback") else NO_SAY


def nobody_fails_three_times(state: State) -> Say:
    """An agent that failed twice is not chosen again (save the writer: without it there is no report)."""
    failed = [error.get("agent_name") for error in state.get("agent_errors", ())]
    return None, {agent for agent in set(failed) - {"writer"} if failed.count(agent) >= MAX_FAILURES}


def a_rejection_binds(state: State) -> Say:
    """The critic rejected, and nothing new has landed since."""
    verdict = (state.get("critic_feedback") or {}).get("verdict")
    fresh = list(state.get("visits", ()))[-1:] == ["critic"]
    return (None, {"writer"}) if verdict == "REJECTED" and fresh and not state.get("forced_fallback") else NO_SAY


def the_critic_precedes_the_writer(state: State) -> Say:
    """Below 0.85 the best next step is no report that the critic has not seen."""
    heard = "critic" in state.get("visits", ()) or state.get("critic_feedback")
    unsure = state.get("supervisor_confidence", 0.0) < SURE
    return (None, {"writer"}) if unsure and not heard and not state.get("forced_fallback") else NO_SAY


# In order: a rule that leaves one node only is not overruled by those below it.
RULES: Final[tuple[Callable[[State], Say], ...]] = (
    nothing_after_the_report,
    the_limit_ends_it,
    the_investigator_is_first,
    two_questions_at_most,
    two_code_searches_at_most,
    one_critic_at_most,
    nobody_fails_three_times,
    a_rejection_binds,
    the_critic_precedes_the_writer,
)


RULES_OF_THE_BEST: Final = frozenset({the_critic_precedes_the_writer})
"""Held against the best nodes only: the confidence is that of the decision before, and may rise with the next."""


def broken_rule(point: DecisionPoint) -> tuple[Choice, str] | None:
    """A node the label accepts against a rule, and that rule in words; None if it keeps them all."""
    top = max(point.accept.values())
    for rule in RULES:
        only, wrong = rule(point.state)
        held = [node for node, grade in point.accept.items() if grade == top or rule not in RULES_OF_THE_BEST]
        against = sorted(choice for choice in held if choice in wrong or (only and choice not in only))
        if against:
            return against[0], str(rule.__doc__)
        if only:
            return None
    return None


MAX_SHARE: Final = 0.01


def spec_is_sound(subject: LintedCase) -> Iterator[Complaint]:
    """Every constraint has what its type needs, ids differ, the step target is not above the maximum."""
    for fault in spec_faults(subject.case.route_spec):
        yield at_label(subject, fault, "route")


def exemplars_pass(subject: LintedCase) -> Iterator[Complaint]:
    """Every exemplar passes its own alternative under the policy."""
    rejected = rejected_exemplars(subject.case.route_spec)
    for index, alternative in enumerate(subject.case.route_spec.alternatives):
        for place, exemplar in enumerate(alternative.exemplars):
            if exemplar in rejected:
                message = f"the exemplar {_arrows(exemplar)} fails its own specification"
                yield at_label(subject, message, "route", index, "exemplars", place)


def spec_is_strict(subject: LintedCase) -> Iterator[Complaint]:
    """Of all node sequences of up to six visits, fewer than one in a hundred pass; found out once a specification."""
    share = strictness_of(subject.case.route_spec, subject.cache).share
    if share >= MAX_SHARE:
        yield at_label(
            subject, f"{share:.2%} of all routes pass; below {MAX_SHARE:.0%} a pass means something", "route"
        )


def mutants_are_killed(subject: LintedCase) -> Iterator[Complaint]:
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


def point_ids_differ(subject: LintedCase) -> Iterator[Complaint]:
    """Within a case each decision point has a name of its own."""
    seen: set[str] = set()
    for index, point in enumerate(subject.case.labels.decision_points):
        if point.id in seen:
            yield _at_point(subject, index, f"a decision point is called {point.id!r} already")
        seen.add(point.id)


def points_give_a_reason(subject: LintedCase) -> Iterator[Complaint]:
    """Every label says why, in a sentence, and grades one node as right."""
    for index, point in enumerate(subject.case.labels.decision_points):
        if len(point.why.split()) < 3:
            yield _at_point(subject, index, f"{point.id}: `why` is no sentence; name the rule, or say it is judgement")
        if max(point.accept.values()) < 1:
            yield _at_point(
                subject, index, f"{point.id}: no node is graded 1.0; something must be the right thing to do"
            )


def points_are_reachable(subject: LintedCase) -> Iterator[Complaint]:
    """Each visit counts one iteration, and what is known was brought by a visit."""
    for index, point in enumerate(subject.case.labels.decision_points):
        for fault in _inconsistencies(point.state):
            yield _at_point(subject, index, f"{point.id}: {fault}")


def points_keep_the_rules(subject: LintedCase) -> Iterator[Complaint]:
    """No label accepts what a rule of the supervisor forbids in that state."""
    for index, point in enumerate(subject.case.labels.decision_points):
        broken = broken_rule(point)
        if broken:
            yield _at_point(subject, index, f"{point.id}: accepts {broken[0]}, against a rule: {broken[1]}")


def point_states_are_valid(corpus: Corpus) -> Iterator[Complaint]:
    """The caller's validator (the graph's own state model) accepts every frozen state."""
    validate = corpus.surroundings.validate_state
    if validate is None:
        return
    for case, index, point in _points(corpus):
        fault = validate({**_issue(case), **point.state})
        if fault is not None:
            yield at_case(corpus, case, f"{point.id}: {fault}", "decision_points", index)


def equal_states_have_equal_labels(corpus: Corpus) -> Iterator[Complaint]:
    """What is known in a state must tell why its label differs from that of another: no two are equal and labelled
    otherwise. The issue does not count as part of it; a state says what was made of the issue."""
    labelled: dict[str, tuple[Case, DecisionPoint]] = {}
    for case, index, point in _points(corpus):
        known = {name: value for name, value in point.state.items() if value not in ([], {}, None, "", 0)}
        first, other = labelled.setdefault(json.dumps(known, sort_keys=True), (case, point))
        if other.accept != point.accept:
            message = f"{point.id}: the state equals {first.id}/{other.id}, the label does not"
            yield at_case(corpus, case, message, "decision_points", index)


def _inconsistencies(state: dict[str, Any]) -> Iterator[str]:
    visits = Counter(state.get("visits", ()))
    if state.get("iterations", 0) != visits.total():
        yield f"`iterations` is {state.get('iterations', 0)}, but there are {visits.total()} visits"
    brought = Counter(entry.get("agent_name") for name in ("findings", "agent_errors") for entry in state.get(name, ()))
    brought["human_input"] += len(state.get("human_exchanges", ()))
    for agent, count in sorted(brought.items(), key=str):
        if count > visits[agent]:
            yield f"{agent} brought {count} results in {visits[agent]} visits"
    seen = (state.get("critic_feedback") or {}).get("evidence_seen", 0)
    known = len(state.get("findings", ())) + len(state.get("human_exchanges", ()))
    if seen > known:
        yield f"the critic has seen {seen} pieces of evidence, but there are {known}"
    for result, agent in (("critic_feedback", "critic"), ("report", "writer")):
        if state.get(result) and not visits[agent]:
            yield f"there is a `{result}`, but no visit of the {agent}"


def _points(corpus: Corpus) -> Iterator[tuple[Case, int, DecisionPoint]]:
    for case in corpus.cases.values():
        for index, point in enumerate(case.labels.decision_points):
            yield case, index, point


def _issue(case: Case) -> dict[str, str]:
    return {
        "issue_title": case.title,
        "issue_body": case.body,
        "issue_url": case.url,
        "repository": case.repository,
    }


def _at_point(subject: LintedCase, index: int, message: str) -> Complaint:
    return at_label(subject, message, "decision_points", index)

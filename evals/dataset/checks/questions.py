"""Whether the labels about asking the user agree with each other."""

from collections.abc import Iterator
from typing import Final

from evals.dataset.checks.place import at_case, at_label
from evals.dataset.finding import Complaint, Corpus, Subject
from evals.models.case import Archetype
from evals.models.route import RouteAlternative

MIN_KEYWORDS: Final = 5  # people ask for one thing in many words; a topic nobody can hit is no answer
ASKING: Final[frozenset[Archetype]] = frozenset({"environment_ambiguity", "insufficient_information"})


def scripted_answers_exist(subject: Subject) -> Iterator[Complaint]:
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


def question_fits_route(subject: Subject) -> Iterator[Complaint]:
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

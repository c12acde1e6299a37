"""Whether the labels about asking the user agree with each other."""

from collections.abc import Iterator

from evals.dataset.finding import Complaint, Subject
from evals.dataset.located import line_of
from evals.models.route import RouteAlternative


def scripted_answers_exist(subject: Subject) -> Iterator[Complaint]:
    """Where a question is required the simulated user knows something; no topic is scripted twice."""
    question = subject.case.labels.question
    line = line_of(subject.labels_path, "question")
    if question.policy == "required" and not question.answers:
        yield Complaint("a question is required, but `answers` is empty", subject.labels_path, line)
    topics = [answer.topic for answer in question.answers]
    for topic in sorted({topic for topic in topics if topics.count(topic) > 1}):
        yield Complaint(f"the topic {topic!r} is scripted twice", subject.labels_path, line)


def question_fits_route(subject: Subject) -> Iterator[Complaint]:
    """Exemplars ask in every alternative where a question is required, and never where it is forbidden."""
    for alternative in subject.case.route_spec.alternatives:
        for message in _disagreements(alternative):
            yield Complaint(message, subject.labels_path, line_of(subject.labels_path, "route"))


def _disagreements(alternative: RouteAlternative) -> Iterator[str]:
    asking = ["human_input" in exemplar for exemplar in alternative.exemplars]
    if alternative.question == "required" and not all(asking):
        yield "a question is required, but an exemplar does without human_input"
    if alternative.question == "forbidden" and any(asking):
        yield "a question is forbidden, but an exemplar visits human_input"
    if alternative.question == "forbidden" and alternative.node_max.get("human_input") != 0:
        yield "a question is forbidden, but node_max.human_input is not 0"

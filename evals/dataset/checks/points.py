"""Decision points: frozen states that must be states the graph could really be in."""

from collections.abc import Iterator

from evals.dataset.finding import Complaint, Corpus, Subject
from evals.dataset.located import line_of


def point_ids_differ(subject: Subject) -> Iterator[Complaint]:
    """Within a case each decision point has a name of its own."""
    ids = [point.id for point in subject.case.labels.decision_points]
    for name in sorted({name for name in ids if ids.count(name) > 1}):
        line = line_of(subject.labels_path, "decision_points")
        yield Complaint(f"two decision points are called {name!r}", subject.labels_path, line)


def point_states_are_valid(corpus: Corpus) -> Iterator[Complaint]:
    """The caller's validator (the graph's own state model) accepts every frozen state."""
    validate = corpus.surroundings.validate_state
    if validate is None:
        return
    for case in corpus.cases.values():
        issue = {
            "issue_title": case.title,
            "issue_body": case.body,
            "issue_url": case.url,
            "repository": case.repository,
        }
        for index, point in enumerate(case.labels.decision_points):
            fault = validate({**issue, **point.state})
            if fault is not None:
                path = corpus.layout.labels(case.id)
                yield Complaint(f"{point.id}: {fault}", path, line_of(path, "decision_points", index), case.id)

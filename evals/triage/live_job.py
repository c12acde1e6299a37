"""A live job as a case can be made of it."""

from typing import Any

from evals.models.base import Closed
from evals.models.route_spec import RouteNode


class JobQuestion(Closed):
    """A question the job has put to a person, and the answer."""

    question: str
    context: str
    answer: str


class ServedRequest(Closed):
    """One answered request: by whom, the path it went to, both bodies, when (ISO, UTC), and how long it took."""

    agent: str
    path: str
    request: dict[str, Any]
    response: dict[str, Any]
    at: str
    latency_ms: float


class LiveJob(Closed):
    """What is stored of a job. `repository` is what its requests call the code, `revision` the commit it stood at (""
    where that is not known), `states` what the supervisor was asked in, `served` the traffic, if it was kept."""

    name: str
    title: str
    body: str
    url: str
    repository: str
    revision: str
    route: tuple[RouteNode, ...]
    asked: tuple[JobQuestion, ...]
    states: tuple[dict[str, Any], ...]
    served: tuple[ServedRequest, ...]
    supervisor: str
    prompt: str | None
    plan: str | None
    guards: str
    max_iterations: int
    code: dict[str, str]
    """The text files an agent could read, by their path."""
    remarks: tuple[str, ...] = ()
    """What about the job a replay cannot know."""

"""What the graph knows: the state every node reads and the values the nodes exchange."""

from operator import add
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Worker = Literal["investigator", "codebase_search", "web_search", "critic", "human_input", "writer"]
Node = Literal["investigator", "codebase_search", "web_search", "critic", "human_input", "writer", "end"]
Severity = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]
Confidence = Annotated[float, Field(ge=0.0, le=1.0)]

WORKERS: Final[tuple[Worker, ...]] = (
    "investigator",
    "codebase_search",
    "web_search",
    "critic",
    "human_input",
    "writer",
)
NODES: Final[tuple[Node, ...]] = (*WORKERS, "end")
MAX_QUESTIONS: Final = 2
DEFAULT_MAX_ITERATIONS: Final = 10
CURRENT_SCHEMA_VERSION: Final = 6


class Value(BaseModel):
    """A frozen value that knows all its fields: an unknown key is an error, not a silent loss."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ConfidenceFloor(Value):
    """How sure the supervisor has to be before a report is written: at `single` one finding is enough, at
    `corroborated` it takes `min_findings`. Rendered into prompts; enforced in code only by the guard of that name."""

    single: Confidence = 0.85
    corroborated: Confidence = 0.70
    min_findings: Annotated[int, Field(ge=1)] = 2


class HumanExchange(Value):
    """One question to the user; `answer` is None while it waits."""

    question: str
    context: str = ""
    answer: str | None = None


class AgentFinding(Value):
    """What one worker visit learned, in the shape the supervisor reads."""

    agent_name: Worker
    summary: str
    confidence: Confidence
    details: str
    relevant_files: tuple[str, ...] = ()


class AgentError(Value):
    """A worker visit that failed: it counts as a visit, and adds no finding."""

    agent_name: Worker
    iteration: int
    error: str


class Veto(Value):
    """A guard that overruled the supervisor: which one, from where, to where, at which iteration."""

    guard: str
    chosen: Node
    send_to: Node
    iteration: int


class CriticVerdict(Value):
    """The critic's binary gate. `evidence_seen` counts findings and answers when it was given, so that a
    rejection can be seen to be spent once something new has landed. `review` is the word the gate was made of."""

    verdict: Literal["APPROVED", "REJECTED"]
    review: Literal["CONFIRMED", "UNCERTAIN", "CHALLENGED"] | None = None
    gaps: tuple[str, ...] = ()
    required_evidence: tuple[str, ...] = ()
    confidence: Confidence
    evidence_seen: int = 0


class TriageReport(Value):
    """The final answer of a triage job."""

    root_cause: str
    root_cause_location: str | None
    category: Literal["code", "third_party", "environment", "not_a_bug", "feature", "duplicate", "insufficient"]
    severity: Severity
    affected_files: tuple[str, ...]
    evidence: tuple[str, ...]
    next_steps: tuple[str, ...]
    confidence: Confidence


class TicketDraft(Value):
    """The ticket the writer proposes."""

    title: str
    labels: tuple[str, ...] = ()
    assignee: str = ""
    effort: Literal["XS", "S", "M", "L", "XL"] = "M"


class WriterDraft(Value):
    """What a writer that failed had finished all the same; empty where it has not."""

    report: TriageReport | None = None
    comment: str = ""
    ticket: TicketDraft | None = None


class SearchScope(Value):
    """How widely the next codebase search looks, where the supervisor has an opinion on it.

    `chunks` is how many it reads, `min_score` the cosine similarity below which a chunk counts as no match; `keywords`
    and `instructions` are added to its own.
    """

    chunks: Annotated[int, Field(ge=1)]
    min_score: Confidence = 0.0
    keywords: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()


class Retrieval(Value):
    """What code searches have to go on: chunks there are, and chunks the job has read by the latest of them."""

    searched: int
    kept: int


class RetryReason(Value):
    """Why the `rules` supervisor had the search repeated: the signals as they stood, `iteration` counting from 1.
    `over_compression`: none of the code that was read stands behind what the draft names."""

    iteration: int
    confidence: Confidence
    reason: str
    citation_issue: bool
    hallucination: bool
    over_compression: bool = False


class DecisionEvent(Value):
    """One decision of the `rules` supervisor as telemetry. `first_run`: there is no reviewed draft to judge yet."""

    node: Literal["supervisor"] = "supervisor"
    decision: Literal["first_run", "retry", "finalize", "HITL_triggered"]
    confidence: Confidence
    retry_count: int
    reason: str


class SupervisorError(Value):
    """A reply of the `registry` supervisor that could not be used; the job is over, and this is why."""

    iteration: int
    error: str


TaskStatus = Literal["READY", "RUNNING", "NEEDS_REVIEW", "COMPLETED", "FAILED", "RERUN", "ERRORED", "CANCELLED"]


class PlanLimits(Value):
    """How long a plan is worked on: tries per task, and answers of the supervisor."""

    max_attempts: Annotated[int, Field(ge=1)] = 2
    max_steps: Annotated[int, Field(ge=1)] = 10


class TaskEvent(Value):
    """One thing that happened to a task: at which step of the supervisor, the status it left, and why."""

    step: int
    status: TaskStatus
    note: str = ""


class TaskItem(Value):
    """One task of a plan: what is to be done, by whom, after which others, and what became of it.

    `feedback` is the critic's latest review, `guidance` what the supervisor tells the worker. Both reach the worker as
    instructions; a review that failed the task is appended to `objective`.
    """

    task_id: Annotated[int, Field(ge=1)]
    objective: Annotated[str, Field(min_length=1)]
    capability: Worker
    dependencies: tuple[int, ...] = ()
    status: TaskStatus = "READY"
    result: AgentFinding | None = None
    feedback: CriticVerdict | None = None
    guidance: str = ""
    attempts: int = 0
    is_final: bool = False
    history: tuple[TaskEvent, ...] = ()


Kept = TypeVar("Kept")


def latest(_before: Kept, after: Kept) -> Kept:
    """Of visits that run side by side, the last task's word counts."""
    return after


def furthest(before: int, after: int) -> int:
    """Visits that run side by side are numbered one after the other; the count stands at the highest."""
    return max(before, after)


def each_once(before: list[str], after: list[str]) -> list[str]:
    """Two searches side by side may read, or cite, the same."""
    return list(dict.fromkeys([*before, *after]))


def by_id(before: list[TaskItem], after: list[TaskItem]) -> list[TaskItem]:
    """The plan with the tasks of `after` in the place of those they stand for, in order of id."""
    merged = {task.task_id: task for task in (*before, *after)}
    return [merged[number] for number in sorted(merged)]


class BugTriageState(BaseModel):
    """The LangGraph state. Lists marked `add` only grow; what names no reducer has one writer at a time.

    Only the tasks of a plan run side by side; the other reducers say what happens to a field two of them write.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: int = CURRENT_SCHEMA_VERSION
    job_id: str = ""
    issue_title: str
    issue_body: str
    issue_url: str = ""
    issue_discussion: str = ""
    """Comments and linked pull requests (`triage.issue`); empty where there are none, and in every replay."""
    repository: str = ""

    findings: Annotated[list[AgentFinding], add] = Field(default_factory=list)
    human_exchanges: Annotated[list[HumanExchange], add] = Field(default_factory=list)
    pending_exchange: HumanExchange | None = None
    awaiting_human: bool = False
    redirect_instructions: list[str] = Field(default_factory=list)

    visits: Annotated[list[Worker], add] = Field(default_factory=list)
    iterations: Annotated[int, furthest] = 0
    max_iterations: int = DEFAULT_MAX_ITERATIONS

    next_node: Node | None = None
    routed_node: Node | None = None
    vetoes: Annotated[list[Veto], add] = Field(default_factory=list)
    supervisor_reasoning: str = ""
    supervisor_confidence: Confidence = 0.0
    forced_fallback: bool = False
    corrections: int = 0

    plan: Annotated[list[TaskItem], by_id] = Field(default_factory=list)
    plan_steps: int = 0
    selected_tasks: list[int] = Field(default_factory=list)
    task_id: int | None = None
    """Set only in what one task's worker, or its reviewer, is sent."""
    briefing: str = ""
    """The message the last decision rests on, where it cannot be rebuilt from the state alone."""

    retry_reasons: Annotated[list[RetryReason], add] = Field(default_factory=list)
    decision_events: Annotated[list[DecisionEvent], add] = Field(default_factory=list)
    supervisor_errors: Annotated[list[SupervisorError], add] = Field(default_factory=list)
    search_scope: SearchScope | None = None
    retrieval: Annotated[Retrieval | None, latest] = None

    critic_feedback: Annotated[CriticVerdict | None, latest] = None
    search_keywords: Annotated[list[str], latest] = Field(default_factory=list)
    error_messages: Annotated[list[str], each_once] = Field(default_factory=list)
    """Error lines of the issue as the investigator quoted them; for `report.json`, no request holds them."""
    codebase_evidence: Annotated[list[str], each_once] = Field(default_factory=list)
    places_read: Annotated[list[str], each_once] = Field(default_factory=list)
    """Ids of the chunks that code searches have shown to their model; a further search leaves them out."""
    web_queries: Annotated[list[str], each_once] = Field(default_factory=list)
    pages_read: Annotated[list[str], each_once] = Field(default_factory=list)
    """Addresses of the pages that web searches have shown to their model; as above."""
    report: Annotated[TriageReport | None, latest] = None
    comment: Annotated[str, latest] = ""
    ticket: Annotated[TicketDraft | None, latest] = None
    draft: Annotated[WriterDraft | None, latest] = None
    """Of a visit of the writer that did not bring all three texts; they are the job's only once they are complete."""
    agent_errors: Annotated[list[AgentError], add] = Field(default_factory=list)

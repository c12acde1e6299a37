"""What the graph knows: the state every node reads and the values the nodes exchange."""

from operator import add
from typing import Annotated, Final, Literal

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
CURRENT_SCHEMA_VERSION: Final = 2


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
    rejection can be seen to be spent once something new has landed."""

    verdict: Literal["APPROVED", "REJECTED"]
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


class BugTriageState(BaseModel):
    """The LangGraph state. Lists marked `add` only grow; everything else is overwritten by the last writer."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = CURRENT_SCHEMA_VERSION
    job_id: str = ""
    issue_title: str
    issue_body: str
    issue_url: str = ""
    repository: str = ""

    findings: Annotated[list[AgentFinding], add] = Field(default_factory=list)
    human_exchanges: Annotated[list[HumanExchange], add] = Field(default_factory=list)
    pending_exchange: HumanExchange | None = None
    awaiting_human: bool = False
    redirect_instructions: list[str] = Field(default_factory=list)

    visits: Annotated[list[Worker], add] = Field(default_factory=list)
    iterations: int = 0
    max_iterations: int = DEFAULT_MAX_ITERATIONS

    next_node: Node | None = None
    routed_node: Node | None = None
    vetoes: Annotated[list[Veto], add] = Field(default_factory=list)
    supervisor_reasoning: str = ""
    supervisor_confidence: Confidence = 0.0
    forced_fallback: bool = False
    corrections: int = 0

    critic_feedback: CriticVerdict | None = None
    search_keywords: list[str] = Field(default_factory=list)
    codebase_evidence: Annotated[list[str], add] = Field(default_factory=list)
    report: TriageReport | None = None
    comment: str = ""
    ticket: TicketDraft | None = None
    agent_errors: Annotated[list[AgentError], add] = Field(default_factory=list)

"""Files that a finished job leaves, and the caveats of its report."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from triage.agent_registry import has_found
from triage.guards.guards import sure_enough
from triage.private_files import private_folder, write_private
from triage.state import (
    WORKERS,
    AgentFinding,
    BugTriageState,
    ConfidenceFloor,
    CriticVerdict,
    TaskItem,
    TriageReport,
    Worker,
    WriterDraft,
)

EVIDENCE: Final[tuple[Worker, ...]] = ("investigator", "codebase_search", "web_search")
SEARCHES: Final[tuple[Worker, ...]] = ("codebase_search", "web_search")
DEFAULT_FLOOR: Final = ConfidenceFloor()
HEADING: Final = "Limits of this report"
QUOTED: Final = 300
"""Characters of a critic's gaps that a caveat quotes."""


@dataclass(frozen=True)
class Caveat:
    """One sentence, and whether the report rests on too little because of it."""

    text: str
    grave: bool = False


def caveats(state: BugTriageState, floor: ConfidenceFloor = DEFAULT_FLOOR) -> tuple[Caveat, ...]:
    """The limits of the report in `state`, gravest first. `floor`: how sure a supervisor has to be for a report."""
    found = [*(caveat for rule in RULES for caveat in rule(state)), *unsure(state, floor)]
    return tuple(sorted(found, key=lambda caveat: not caveat.grave))


def grave_caveats(state: BugTriageState, floor: ConfidenceFloor = DEFAULT_FLOOR) -> list[str]:
    """The texts of the grave ones."""
    return [caveat.text for caveat in caveats(state, floor) if caveat.grave]


def caveat_block(texts: Iterable[str]) -> str:
    """The caveats as Markdown, to stand at the top of a text; empty without any."""
    lines = [f"> - {' '.join(text.split())}" for text in texts]
    return "\n".join([f"> **{HEADING}**", ">", *lines]) if lines else ""


def no_decision(state: BugTriageState) -> Iterator[Caveat]:
    """The supervisor's model gave no valid decision, so the report was written from what there was."""
    errors = [failure.error for failure in state.supervisor_errors]
    if state.forced_fallback and errors:
        yield Caveat(f"The supervisor did not decide on this report: {errors[-1]}.", grave=True)
    elif state.forced_fallback:
        visits = state.visits.count("writer") and len(state.visits) - 1
        after = f"{visits} visit{'s' * (visits != 1)}"
        yield Caveat(f"The supervisor gave no valid decision; the writer was forced after {after}.", grave=True)
    elif errors:
        yield Caveat(f"The supervisor gave an answer that could not be used: {errors[-1]}.")


def rejected(state: BugTriageState) -> Iterator[Caveat]:
    """The critic's last word was a rejection. The investigator alone does not answer one: it reads the issue again."""
    verdict = state.critic_feedback
    if verdict is None or verdict.verdict != "REJECTED":
        return
    word, gaps = verdict.review or verdict.verdict, _quoted(verdict.gaps)
    since, answered = _since(state, verdict)
    new = [*dict.fromkeys(str(finding.agent_name) for finding in since if finding.agent_name in SEARCHES)]
    new += ["an answer of the user"] * answered
    if new:
        yield Caveat(f"The critic rejected the findings ({word}){gaps}. {_listed(new)} came later, and no new review.")
    else:
        yield Caveat(f"The critic rejected the findings ({word}), and nothing has answered it{gaps}.", grave=True)


def spent(state: BugTriageState) -> Iterator[Caveat]:
    """The `rules` supervisor had a doubt left when the report was written: its means, or the visits, were used up."""
    judged = [event for event in state.decision_events if event.reason not in ("report_written", "writer_failed")]
    last = judged[-1] if judged else None
    if last is None or last.decision == "first_run" or last.reason == "no_issue":
        return
    sure, retries = f"{last.confidence:.0%}", f"{last.retry_count} {'retry' if last.retry_count == 1 else 'retries'}"
    if last.reason == "all_means_spent":
        why = f" ({state.retry_reasons[-1].reason.replace('_', ' ')})" if state.retry_reasons else ""
        yield Caveat(f"{retries} and a question did not settle the doubts{why}: the confidence is {sure}.", grave=True)
    else:
        doubt = last.reason.replace("_", " ")
        yield Caveat(f"A doubt was left when the report was written ({doubt}): the confidence is {sure}.", grave=True)


def plan_failed(state: BugTriageState) -> Iterator[Caveat]:
    """The plan was not carried out to its final task, or not all of it. A writer's task that is ERRORED although there
    is a report was written after all, by a visit beyond the plan, or lacks its review."""
    unreviewed = [task for task in state.plan if task.status == "NEEDS_REVIEW" or _written_after_all(state, task)]
    final = next((task for task in state.plan if task.is_final), None)
    done = final is not None and (final.status == "COMPLETED" or final in unreviewed)
    broken = [task for task in state.plan if task.status in ("FAILED", "ERRORED") and task not in unreviewed]
    unrun = [task for task in state.plan if task.status in ("READY", "RERUN", "RUNNING")]
    if not done and (broken or unrun):
        said = [*(f"{_named(task)} {_failure(task)}" for task in broken)]
        said += [f"{', '.join(map(_named, unrun))} never ran"] if unrun else []
        yield Caveat(f"The plan was not carried out: {'; '.join(said)}.", grave=True)
    elif done:
        yield from (Caveat(f"A part of the plan failed: {_named(task)} {_failure(task)}.") for task in broken)
        yield from (Caveat(f"The result of {_named(task)} was not reviewed.") for task in unreviewed)


def no_evidence(state: BugTriageState) -> Iterator[Caveat]:
    """Nobody who looks for a cause has found anything."""
    if not any(has_found(state, agent) for agent in EVIDENCE):
        yield Caveat("No agent found anything: the report rests on the issue's title alone.", grave=True)


def code_unread(state: BugTriageState) -> Iterator[Caveat]:
    """Nobody has looked at the code; it is grave where somebody tried."""
    if not has_found(state, "codebase_search"):
        tried = bool(_errors(state, "codebase_search"))
        yield Caveat(f"Nobody looked at the code{'' if tried else ': no code search was made'}.", grave=tried)


def failures(state: BugTriageState) -> Iterator[Caveat]:
    """Agents that failed, and never succeeded."""
    for agent in WORKERS:
        errors = _errors(state, agent)
        if errors and agent != "writer" and not has_found(state, agent):
            times = "once" if len(errors) == 1 else f"{len(errors)} times"
            yield Caveat(f"{agent} failed {times}: {errors[-1]}")


def unsure(state: BugTriageState, floor: ConfidenceFloor) -> Iterator[Caveat]:
    """The supervisor stated a lower confidence than a report takes. The `rules` supervisor has a bar of its own, which
    it has applied already; a forced decision states none."""
    decided_by_rules = any(event.decision != "first_run" for event in state.decision_events)
    if state.routed_node is None or state.forced_fallback or decided_by_rules or sure_enough(state, floor):
        return
    found = sum(finding.agent_name in EVIDENCE for finding in state.findings)
    bar = floor.corroborated if found >= floor.min_findings else floor.single
    needed = f"{bar:.0%} with {found} finding{'s' * (found != 1)}"
    yield Caveat(f"The supervisor was {state.supervisor_confidence:.0%} sure; a report takes {needed}.", grave=True)


RULES: Final[tuple[Callable[[BugTriageState], Iterator[Caveat]], ...]] = (
    no_decision,
    rejected,
    spent,
    plan_failed,
    no_evidence,
    code_unread,
    failures,
)


def _since(state: BugTriageState, verdict: CriticVerdict) -> tuple[list[AgentFinding], bool]:
    """The findings that came after the review behind `verdict`, and whether an answer did. `evidence_seen` counts
    findings and answers together, so the review is the last one that leaves a possible number of answers."""
    asked = len(state.human_exchanges)
    reviews = (n for n, finding in enumerate(state.findings, 1) if finding.agent_name == "critic")
    at = max((n for n in reviews if 0 <= verdict.evidence_seen - n <= asked), default=0)
    if not at:
        return [], False
    return state.findings[at:], verdict.evidence_seen - at < asked


def _quoted(gaps: Iterable[str]) -> str:
    text = " ".join("; ".join(gaps).split()).rstrip(".")
    return f": {text[:QUOTED]}{'…' * (len(text) > QUOTED)}" if text else ""


def _listed(names: list[str]) -> str:
    text = " and ".join(names)
    return text[0].upper() + text[1:] if text.startswith("an ") else text


def _written_after_all(state: BugTriageState, task: TaskItem) -> bool:
    return task.status == "ERRORED" and task.capability == "writer" and state.report is not None


def _named(task: TaskItem) -> str:
    return f"task {task.task_id} ({task.capability})"


def _failure(task: TaskItem) -> str:
    """How the task failed: what its review missed, or the error."""
    if task.status == "FAILED" and task.feedback is not None:
        return f"failed its review{_quoted(task.feedback.gaps)}"
    noted = [event.note for event in task.history if event.status == task.status and event.note]
    return f"failed{_quoted(noted[-1:])}"


def _errors(state: BugTriageState, agent: Worker) -> list[str]:
    return [failure.error for failure in state.agent_errors if failure.agent_name == agent]


def texts_of(state: BugTriageState) -> WriterDraft:
    """The writer's three texts: the job's, or what a writer that failed had finished."""
    if state.report is not None or state.draft is None:
        return WriterDraft(report=state.report, comment=state.comment, ticket=state.ticket)
    return state.draft


def missing_texts(state: BugTriageState) -> tuple[str, ...]:
    """Which of the three texts there are not."""
    texts = texts_of(state)
    have = {"report": texts.report is not None, "comment": bool(texts.comment), "ticket": texts.ticket is not None}
    return tuple(name for name, there in have.items() if not there)


def write_results(
    folder: Path,
    state: BugTriageState,
    plan: Mapping[str, Any] | None = None,
    floor: ConfidenceFloor = DEFAULT_FLOOR,
) -> list[Path]:
    """Write `report.md`, `report.json`, `comment.md` and `ticket.json` as far as the job has them; returns what was
    written. `plan` is what the plan it began with is for, if it had one; `floor` is how sure a report has to be."""
    have, files = texts_of(state), dict[str, str]()
    if have.report is not None:
        files["report.md"] = report_markdown(state.issue_title, have.report, _limits(state, floor))
        files["report.json"] = _json({**report_data(state, have.report, floor), "plan": plan})
    if have.comment:
        files["comment.md"] = with_caveats(have.comment.strip(), grave_caveats(state, floor)) + "\n"
    if have.ticket is not None:
        files["ticket.json"] = _json(have.ticket.model_dump(mode="json"))
    private_folder(folder)
    for name, text in files.items():
        write_private(folder / name, text)
    return [folder / name for name in files]


def with_caveats(text: str, said: Iterable[str]) -> str:
    """`text` below the caveats it does not hold yet."""
    block = caveat_block(line for line in said if " ".join(line.split()) not in text)
    return f"{block}\n\n{text}" if block else text


def report_data(state: BugTriageState, report: TriageReport, floor: ConfidenceFloor = DEFAULT_FLOOR) -> dict[str, Any]:
    """The report with what led to it: caveats, the critic's verdict, the supervisor's confidence, findings, visits,
    failures, vetoes, questions."""
    job = state.model_dump(
        mode="json",
        include={"job_id", "issue_title", "issue_url", "repository", "visits", "agent_errors", "supervisor_errors"}
        | {"vetoes", "human_exchanges", "retry_reasons", "decision_events", "redirect_instructions"}
        | {"critic_feedback", "supervisor_confidence", "findings", "error_messages"},
    )
    said = [{"text": caveat.text, "grave": caveat.grave} for caveat in caveats(state, floor)]
    return {"report": report.model_dump(mode="json"), "caveats": said, "missing": missing_texts(state), **job}


def report_markdown(title: str, report: TriageReport, limits: Iterable[str] = ()) -> str:
    """The report as a page: its limits, if any; then what, where, how bad, and what next."""
    facts = [
        f"- **Root cause:** {report.root_cause}",
        f"- **Location:** {report.root_cause_location or 'not in this repository'}",
        f"- **Category:** {report.category}",
        f"- **Severity:** {report.severity}",
        f"- **Confidence:** {report.confidence:.2f}",
    ]
    block = caveat_block(limits)
    parts = [
        f"# {title}",
        *([block] if block else []),
        "\n".join(facts),
        _section("Affected files", report.affected_files),
        _section("Evidence", report.evidence),
        _section("Next steps", report.next_steps),
    ]
    return "\n\n".join(parts) + "\n"


def _limits(state: BugTriageState, floor: ConfidenceFloor) -> list[str]:
    missing = [f"The writer brought no {name}." for name in missing_texts(state)]
    return [*(caveat.text for caveat in caveats(state, floor)), *missing]


def _section(heading: str, lines: Iterable[str]) -> str:
    return "\n".join([f"## {heading}", "", *([f"- {line}" for line in lines] or ["None."])])


def _json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"

"""What a person at the terminal sees and is asked. Everything goes to stderr; model text is never taken for markup."""

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from triage.state import AgentError, HumanExchange, TaskItem

STDERR: Final = Console(stderr=True, soft_wrap=True, highlight=False)


def say(message: str, style: str = "") -> None:
    """One line, or several, as they are."""
    STDERR.print(Text(message, style=style))


def ask(question: HumanExchange) -> str | None:
    """Ask and wait; None when standard input has come to its end."""
    say(f"\nQuestion: {question.question or '(the supervisor gave no text)'}", "bold")
    if question.context:
        say(question.context, "dim")
    try:
        return STDERR.input("Answer: ")
    except EOFError:
        say("")
        return None


def tell(node: str, changes: Mapping[str, Any]) -> None:
    """One line for each step of a job."""
    if node == "supervisor":
        say(decision_line(changes), "cyan")
    else:
        say(f"   {node}: {visit_line(changes)}")


def decision_line(changes: Mapping[str, Any]) -> str:
    """Where the supervisor goes and why, and who overruled it; under a plan to several workers at once."""
    routed, confidence = ", ".join(_started(changes)) or changes["routed_node"], changes["supervisor_confidence"]
    overruled = "".join(f" (not {veto.chosen}: {veto.guard})" for veto in changes.get("vetoes", []))
    return f"-> {routed}{overruled}, confidence {confidence:.2f}: {changes['supervisor_reasoning']}"


def _started(changes: Mapping[str, Any]) -> list[str]:
    tasks: list[TaskItem] = changes.get("plan", [])
    return [f"{task.capability} (task {task.task_id})" for task in tasks if task.status == "RUNNING"]


def visit_line(changes: Mapping[str, Any]) -> str:
    """What a visit found, or how it failed."""
    errors: list[AgentError] = changes.get("agent_errors", [])
    if errors:
        return f"failed ({errors[0].error})"
    found = changes.get("findings", [])
    return str(found[0].summary) if found else "answered"

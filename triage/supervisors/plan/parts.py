"""The parts of a plan supervisor's prompt: its task half is three texts, for the tools, the decision, the review."""

import re
from dataclasses import dataclass
from typing import Final

from triage.errors import PromptError
from triage.prompts import SupervisorPrompt

MARKS: Final = ("<!-- decide -->", "<!-- review -->")


@dataclass(frozen=True)
class PlanPrompt:
    """What the supervisor is told: always `system`, then what closes the message of each kind of request. `review` goes
    to the critic, line by line, when it judges the result of a task."""

    system: str
    tools: str
    decide: str
    review: tuple[str, ...]


def parts_of(prompt: SupervisorPrompt) -> PlanPrompt:
    """The parts of `prompt`.

    Raises:
        PromptError: it lacks one.
    """
    marks = "|".join(map(re.escape, MARKS))
    texts = [text.strip() for text in re.split(rf"^(?:{marks})\s*$", prompt.task, flags=re.MULTILINE)]
    if len(texts) != len(MARKS) + 1 or not all(texts):
        raise PromptError(
            f"{prompt.version}: below the task line it needs {' and '.join(MARKS)}, in this "
            "order, with text around them; plan-v1 is one"
        )
    tools, decide, review = texts
    return PlanPrompt(prompt.system, tools, decide, tuple(review.splitlines()))

"""Reading a prompt file: front matter, rendered values, the two halves, and the digest that names the version.

A supervisor file is YAML front matter between `---` lines, the system prompt, a line `<!-- task -->`, and the
task that closes every context message. A worker file is a system prompt, a line `<!-- human -->`, and the
template of the human message; its placeholders are filled by the agent.
"""

import datetime as dt
import hashlib
import json
import re
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from triage.agent_registry import MAX_CALLS, registry_json
from triage.errors import PromptError
from triage.state import MAX_QUESTIONS, ConfidenceFloor

HERE: Final = Path(__file__).parent
TASK_MARK: Final = "<!-- task -->"
HUMAN_MARK: Final = "<!-- human -->"
# One lower-case name in single braces. JSON in a prompt, and {{doubled}} braces, are left as they stand.
PLACEHOLDER: Final = re.compile(r"(?<!\{)\{([a-z_]+)\}(?!\})")


class FrontMatter(BaseModel):
    """What a supervisor prompt says of itself; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    parent: str | None
    date: dt.date
    changes: str
    context: tuple[Literal["critic", "title"], ...] = ()
    """What the message shows besides findings and exchanges: the critic's verdict, the issue's title."""
    agents: dict[str, str] = {}
    """Prompt of a worker -> the version of it that belongs to this one; the others are as they stand in their files."""
    supervisor: Literal["llm", "registry", "plan"] = "llm"
    """Whose prompt it is: supervisors differ in what they are told, and in the reply they can read."""


class SupervisorPrompt(FrontMatter):
    """One rendered version. `digest` is the sha256 of everything the version adds to a request."""

    system: str
    task: str
    digest: str
    agent_texts: dict[str, str] = {}
    """Prompt of a worker -> the text that belongs to this version, in the place of its file's."""

    @property
    def shows_critic(self) -> bool:
        """Whether the critic's verdict is shown."""
        return "critic" in self.context

    @property
    def shows_title(self) -> bool:
        """Whether the issue's title is shown."""
        return "title" in self.context


def load_supervisor_prompt(spec: str | Path, thresholds: ConfidenceFloor | None = None) -> SupervisorPrompt:
    """The version named `spec` ("v2"), or the one in the file at `spec` (a path ending in .md).

    Raises:
        PromptError: no such version, or a file that does not hold one.
    """
    path = Path(spec)
    if path.suffix != ".md":
        path = HERE / "supervisor" / f"{spec}.md"
    if not path.is_file():
        near = get_close_matches(str(spec), _versions(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        known = ", ".join(_versions())
        raise PromptError(f"{spec}: no such supervisor prompt; choose one of {known} or the path of a .md file{hint}")
    return parse_supervisor_prompt(path.read_text(encoding="utf-8"), source=str(spec), thresholds=thresholds)


def parse_supervisor_prompt(text: str, source: str, thresholds: ConfidenceFloor | None = None) -> SupervisorPrompt:
    """The version written in `text`; `source` is what errors call it.

    Raises:
        PromptError: `text` is no prompt, or names a version of a worker's prompt that does not exist.
    """
    prompt = _parsed(text, source, thresholds)
    if not prompt.agents:
        return prompt
    texts = {name: _agent_version(name, version, source) for name, version in sorted(prompt.agents.items())}
    digest = hashlib.sha256(json.dumps([prompt.digest, texts]).encode()).hexdigest()
    return prompt.model_copy(update={"agent_texts": texts, "digest": digest})


@lru_cache(64)  # a replay loads the prompt of every trial, since its file may have changed
def _parsed(text: str, source: str, thresholds: ConfidenceFloor | None) -> SupervisorPrompt:
    head, body = _front_matter(text, source)
    system, task = _halves(_render(body, thresholds or ConfidenceFloor(), source), TASK_MARK, source)
    shaped = json.dumps([system, task, sorted(head.context)], ensure_ascii=False)
    return SupervisorPrompt(
        **head.model_dump(), system=system, task=task, digest=hashlib.sha256(shaped.encode()).hexdigest()
    )


def load_agent_prompt(name: str, text: str | None = None) -> tuple[str, str]:
    """The (system, human) halves of a worker's prompt, or of another `text` for it; placeholders are left for the agent
    to fill.

    Raises:
        PromptError: no such file, or one without the `<!-- human -->` line.
    """
    path = HERE / "agents" / f"{name}.md"
    if text is not None:
        return _halves(text, HUMAN_MARK, name)
    if not path.is_file():
        raise PromptError(f"prompts/agents/{name}.md: no such file; every worker keeps its prompt there")
    return _halves(path.read_text(encoding="utf-8"), HUMAN_MARK, f"prompts/agents/{name}.md")


def _agent_version(name: str, version: str, source: str) -> str:
    path = HERE / "agents" / name / f"{version}.md"
    if not path.is_file():
        raise PromptError(f"{source}: front matter, agents: prompts/agents/{name}/{version}.md: no such file")
    return path.read_text(encoding="utf-8")


def _front_matter(text: str, source: str) -> tuple[FrontMatter, str]:
    parts = re.split(r"^---\s*$", text, maxsplit=2, flags=re.MULTILINE)
    if len(parts) != 3 or parts[0].strip():
        raise PromptError(f"{source}: start the file with front matter between two --- lines")
    try:
        return FrontMatter.model_validate(yaml.safe_load(parts[1])), parts[2]
    except yaml.YAMLError as error:
        raise PromptError(f"{source}: the front matter is not YAML ({str(error).splitlines()[0]})") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "front matter"
        raise PromptError(f"{source}: front matter, {where}: {first['msg']}") from error


def _render(body: str, thresholds: ConfidenceFloor, source: str) -> str:
    values = {
        "single": f"{thresholds.single:.2f}",
        "corroborated": f"{thresholds.corroborated:.2f}",
        "min_findings": str(thresholds.min_findings),
        "max_questions": str(MAX_QUESTIONS),
        "max_calls": str(MAX_CALLS),
        "registry": registry_json(),
    }
    unknown = sorted(set(PLACEHOLDER.findall(body)) - set(values))
    if unknown:
        raise PromptError(f"{source}: unknown placeholder {{{unknown[0]}}}; known are {', '.join(sorted(values))}")
    return PLACEHOLDER.sub(lambda found: values[found[1]], body)


def _halves(text: str, mark: str, source: str) -> tuple[str, str]:
    first, *rest = re.split(rf"^{re.escape(mark)}\s*$", text, flags=re.MULTILINE)
    if len(rest) != 1 or not first.strip() or not rest[0].strip():
        raise PromptError(f"{source}: write exactly one line {mark} with text above and below it")
    return first.strip(), rest[0].strip()


def _versions() -> list[str]:
    return sorted(path.stem for path in (HERE / "supervisor").glob("*.md"))

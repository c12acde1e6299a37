"""A local runner of `action.yml`: the shell of each step as it is written, and its conditions as GitHub reads them."""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.builders.checkout import REPOSITORY

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", flags=re.DOTALL)
WORDS = re.compile(r"'[^']*'|\|\||&&|!=|[\w.-]+\(|[\w.-]+|\S")
PYTHON = {"&&": "and", "||": "or"}


@dataclass
class Ran:
    """What a job did: names of the steps that ran, with exit code and output of each, and what was only named."""

    steps: dict[str, tuple[int, str]] = field(default_factory=dict)
    used: list[dict[str, Any]] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def red(self) -> list[str]:
        """Steps that failed."""
        return [name for name, (code, _) in self.steps.items() if code]

    @property
    def out(self) -> str:
        """All that was printed."""
        return "".join(text for _, text in self.steps.values())


def run_action(folder: Path, event: dict[str, Any], inputs: dict[str, str], **environment: str) -> Ran:
    """The action with some inputs, in a checkout, for an event such as `{"event_name": "push"}`. Steps that use another
    action are only named."""
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
    given = {name: inputs.get(name, told["default"]) for name, told in action["inputs"].items()}
    github = {"repository": "o/r", "run_id": "7", "token": "t", "event": {}, **event}
    ran = Ran()
    for step in action["runs"]["steps"]:
        known = {
            "inputs": given,
            "github": github,
            "runner": {"os": "Linux"},
            "steps": {"judged": {"outputs": ran.outputs}},
        }
        wanted = str(step.get("if", "true"))
        if not _value(wanted, known, folder) or (ran.red and "always()" not in wanted):
            continue
        if "uses" in step:
            ran.used.append(
                {name: _filled(value, known, folder) for name, value in {"uses": step["uses"], **step["with"]}.items()}
            )
            continue
        around = {name: _filled(value, known, folder) for name, value in step.get("env", {}).items()}
        place = folder / _filled(step.get("working-directory", "."), known, folder)
        ran.steps[step["name"]] = _shell(step["run"], folder, place, {**around, **environment}, ran)
    return ran


def _shell(script: str, folder: Path, place: Path, around: dict[str, str], ran: Ran) -> tuple[int, str]:
    told, summary = folder.parent / "step-output", folder.parent / "step-summary"
    told.write_text("")
    files = {
        "GITHUB_OUTPUT": str(told),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_SERVER_URL": "https://git.example",
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=place,
        env={"PATH": os.environ["PATH"], **files, **around},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    ran.outputs |= dict(line.split("=", 1) for line in told.read_text().splitlines())
    return done.returncode, done.stdout


def _filled(text: Any, known: dict[str, Any], folder: Path) -> str:
    """A value with its expressions replaced."""
    return EXPRESSION.sub(lambda found: str(_value(found[1], known, folder)), str(text))


def _value(expression: str, known: dict[str, Any], folder: Path) -> Any:
    """What an expression comes to: `&&`, `||`, `==`, `!=`, names, texts, `always()`, `format('{0}', name)` and
    `hashFiles('path')`."""

    def looked_up(path: str) -> Any:
        value: Any = known
        for name in path.split("."):
            value = value.get(name, "") if isinstance(value, dict) else ""
        return value

    def python(word: str) -> str:
        if word.startswith("'") or word in ("(", ")", ",", "=", "!="):
            return word
        if word in PYTHON:
            return f" {PYTHON[word]} "
        return word if word.endswith("(") else f"look({word!r})"

    names = {
        "look": lambda path: True if path == "true" else looked_up(path),
        "always": lambda: True,
        "format": str.format,
        "hashFiles": lambda path: "digest" if (folder / path).is_file() else "",
    }
    translated = "".join(python(word) for word in WORDS.findall(expression))
    return eval(translated, {"__builtins__": {}}, names)  # noqa: S307 - our own action.yml

"""Variables that lead to a model's endpoint, kept beside the cassettes, since requests depend on them.

LangChain's OpenAI models ask for something else in a stream if `OPENAI_BASE_URL` is set. The host is not kept.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from evals import atomic_files
from evals.cassettes.interaction import ORIGIN
from evals.errors import ConfigurationError, RecordingStoppedError
from evals.project import Project

FILE: Final = "environment.json"
_VARIABLE: Final = re.compile(
    r"(?:OPENAI|AZURE|ANTHROPIC|GOOGLE|GEMINI|MISTRAL|GROQ|FIREWORKS|DEEPSEEK|OPENROUTER|TOGETHER|COHERE|XAI)"
    r"(?:_\w+)?_(?:BASE_URL|API_BASE|API_URL|ENDPOINT)|OPENAI_API_VERSION"
)


def environment_file(root: Path) -> Path:
    """Where the variables of a project are kept."""
    return root / Project.at(root).cassettes / FILE


def variables_in(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment, each URL with a placeholder for its host."""
    found = {name: value for name, value in environment.items() if value and _VARIABLE.fullmatch(name)}
    return {name: value if name.endswith("_VERSION") else _without_host(value) for name, value in found.items()}


def keep_variables(root: Path, variables: Mapping[str, str]) -> None:
    """Write the variables that are set while a project is recorded."""
    file = environment_file(root)
    if file.parent.is_dir() and variables != _kept(file):
        atomic_files.replace(file, json.dumps(variables, indent=1, sort_keys=True) + "\n")


def set_as_recorded(root: Path) -> None:
    """Set the variables of this process as they were while the project was recorded."""
    kept = _kept(environment_file(root))
    if kept is not None:
        for name in filter(_VARIABLE.fullmatch, list(os.environ)):
            del os.environ[name]
        os.environ.update(kept)


def refuse_others(root: Path, now: Mapping[str, str]) -> None:
    """Raises RecordingStoppedError if the variables are not those that the project was recorded with."""
    file = environment_file(root)
    kept = _kept(file)
    if kept is None or kept == now or not any(file.parent.glob("*.yaml")):
        return
    name = min(name for name in {*kept, *now} if kept.get(name) != now.get(name))
    was, found = (f"is {each[name]}" if name in each else "is not set" for each in (kept, now))
    raise RecordingStoppedError(
        f"{file}: {name} {was} for what is recorded, and {found} here (hosts do not matter); "
        "set it so, or remove that file and record all with --refresh"
    )


def _kept(file: Path) -> dict[str, str] | None:
    """None where nothing is kept: recorded before there was such a file, or by batch rounds."""
    try:
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file}: cannot be read ({error}); restore it, or remove it and record") from None
    if not isinstance(found, dict):
        raise ConfigurationError(f"{file}: is no JSON object; restore it, or remove it and record")
    return {str(name): str(value) for name, value in found.items()}


def _without_host(url: str) -> str:
    return f"{ORIGIN}{urlsplit(url if '//' in url else f'//{url}').path}"

r"""Settings of a target, the table \`[target]\` of \`evals.toml\`, and the files that its trials depend on."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from evals import atomic_files
from evals.cassettes.cassette_data import ORIGIN
from evals.errors import ConfigurationError, RecordingStoppedError, nearest_name
from evals.models.base import Closed
from evals.project import FILE, Project, tables_of
from evals.target.key_placeholders import placeholders_in, without_keys

ENVIRONMENT_FILE: Final = "environment.json"
_VARIABLE: Final = re.compile(
    r"(?:OPENAI|AZURE|ANTHROPIC|GOOGLE|GEMINI|MISTRAL|GROQ|FIREWORKS|DEEPSEEK|OPENROUTER|TOGETHER|COHERE|XAI)"
    r"(?:_\w+)?_(?:BASE_URL|API_BASE|API_URL|ENDPOINT)|OPENAI_API_VERSION"
)


def environment_file(root: Path) -> Path:
    """Where the variables of a project are kept."""
    return root / Project.at(root).cassettes / ENVIRONMENT_FILE


def variables_in(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment, each URL with a placeholder for its host, each API key with one for it."""
    found = {name: value for name, value in environment.items() if value and _VARIABLE.fullmatch(name)}
    urls = {name: value if name.endswith("_VERSION") else _without_host(value) for name, value in found.items()}
    return {**urls, **placeholders_in(environment)}


def keep_variables(root: Path, variables: Mapping[str, str]) -> None:
    """Write the variables that are set while a project is recorded; keys of earlier recordings stay."""
    file = environment_file(root)
    kept = _kept(file)
    variables = {**placeholders_in(kept or {}), **variables}
    if file.parent.is_dir() and variables != kept:
        atomic_files.replace(file, json.dumps(variables, indent=1, sort_keys=True) + "\n")


def set_as_recorded(root: Path) -> None:
    """Set the variables of this process as they were while the project was recorded."""
    kept = _kept(environment_file(root))
    if kept is not None:
        for name in filter(_VARIABLE.fullmatch, list(os.environ)):
            del os.environ[name]
        os.environ.update({name: told for name, told in kept.items() if not os.environ.get(name)})


def refuse_others(root: Path, now: Mapping[str, str]) -> None:
    """Raises RecordingStoppedError if the variables are not those that the project was recorded with."""
    file = environment_file(root)
    kept, now = _kept(file), without_keys(now)
    if kept is None or (kept := without_keys(kept)) == now or not any(file.parent.glob("*.yaml")):
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


TABLE: Final = "target"
_CODE: Final = frozenset({".py", ".md", ".txt", ".json", ".toml", ".yaml", ".yml"}) | {
    *(".jinja", ".jinja2", ".j2", ".mustache", ".prompt", ".csv", ".tsv", ".xml", ".html", ".sql", ".ini", ".cfg")
}
_OF_REPORTS: Final = ("index.html", "summary.md")
_NOT_CODE: Final = frozenset({"__pycache__", "node_modules", "venv", "site-packages", "build", "dist", "tests"})


class TargetSettings(Closed):
    """The table `[target]` of `evals.toml`."""

    graph: str | None = None
    """The name in `langgraph.json`; None: the only one there."""
    folder: str = "."
    """The folder of `langgraph.json`, from the project's root."""
    routers: tuple[str, ...] = ()
    """Nodes, or agents by name, whose choice is a decision."""
    scorers: tuple[str, ...] = ()
    """Files from the root, or modules, with scorers of the project."""
    primary: tuple[str, ...] = ()
    """Metrics that decide a verdict, for suites that name none."""
    output: tuple[str, ...] = ()
    """Members of the final state that are the output; none: all of them."""
    prompts: tuple[str, ...] = ()
    """Patterns of prompt files, from the root. One whose name is a value in a variant's `config` is that variant's."""
    clock: str | None = None
    pass_through: tuple[str, ...] = ()
    record: tuple[str, ...] = ()
    """Hosts of services whose answers are recorded as a model's are."""
    tools: tuple[str, ...] = ()
    """Tools whose results are recorded."""
    context: bool = False
    """Whether a variant's `config` is LangGraph's `context` too; it always is `configurable`."""
    recursion_limit: Annotated[int, Field(ge=1)] = 50
    interrupt_limit: Annotated[int, Field(ge=1)] = 50
    synchronous: bool = False
    """Whether the graph is run by `stream`: some of its parts have no async methods."""

    @classmethod
    def of(cls, root: Path) -> "TargetSettings":
        """The settings of the project at `root`. Raises ConfigurationError for an unknown key or a wrong type."""
        told = tables_of(root).get(TABLE, {})
        known = list(cls.model_fields)
        for name in told:
            if name not in known:
                hint = nearest_name(name, known) or f"; known are {', '.join(known)}"
                raise ConfigurationError(f"{root / FILE}: [{TABLE}] has an unknown setting {name!r}{hint}")
        try:
            return cls.model_validate_json(json.dumps(told, default=str), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ConfigurationError(f"{root / FILE}: [{TABLE}] {where}: {first['msg']}") from error

    def at(self, root: Path) -> Path:
        """The folder of `langgraph.json`."""
        return (root / self.folder).resolve()


def target_files(root: Path) -> list[Path]:
    """Settings, code, prompts and data files of the target, sorted; see `TargetPack.code_files`."""
    from evals.target.langgraph_json import read_langgraph_json  # noqa: PLC0415 - loads LangGraph

    folder = TargetSettings.of(root).at(root)
    found = {*_files_below(folder, _folders_of_harness(root)), *prompt_files(root)}
    named = (root / FILE, read_langgraph_json(folder).env_file, environment_file(root))
    return sorted({*found, *(path.resolve() for path in named if path is not None and path.is_file())})


def prompt_files(root: Path) -> list[Path]:
    """The files that match the patterns of `prompts`, sorted. Raises ConfigurationError for one elsewhere."""
    found: dict[Path, Path] = {}
    for pattern in TargetSettings.of(root).prompts:
        try:
            found |= {path: path.resolve() for path in root.glob(pattern) if not path.is_dir()}
        except (NotImplementedError, ValueError) as error:
            raise ConfigurationError(f"{root / FILE}: prompts: {pattern!r} is no pattern from the root") from error
    for path, place in found.items():
        if not (place.is_file() and place.is_relative_to(root.resolve())):
            shown = path.relative_to(root).as_posix()
            raise ConfigurationError(f"{shown} leads to no file of the project; copy it there, or mend `prompts`")
    return sorted({*found.values()})


def shown_path(path: Path, root: Path) -> str:
    """The path from the root; only its name where it is elsewhere."""
    root = root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _folders_of_harness(root: Path) -> set[Path]:
    project = Project.at(root)
    named = (project.cases, project.suites, project.cassettes, project.reports, project.baselines)
    return {(root / name).resolve() for name in named if name}


def _files_below(folder: Path, left_out: set[Path]) -> list[Path]:
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in _NOT_CODE or path.resolve() in left_out or _is_result(path):
            continue
        if path.is_dir():
            left_out.add(path.resolve())  # a link may lead to a folder above, or to one that was read
            found += _files_below(path, left_out)
        elif path.suffix in _CODE:
            found.append(path.resolve())
    return found


def _is_result(path: Path) -> bool:
    """Whether a command of ours or pytest wrote it: a run with the rest of its report, a shard, or JUnit XML."""
    run = path.with_name("run.json") if path.name in _OF_REPORTS else path
    if run.suffix not in (".json", ".xml") or not run.is_file():
        return False
    with run.open("rb") as stream:
        head = stream.read(100)
    return b'"content_sha256"' in head[:20] or b"<testsuites" in head

"""`langgraph.json` and the graphs it names, loaded as LangGraph's own command line loads them.

Relative paths are relative to the file's folder. That folder, the folder of a graph's file and the local folders under
`dependencies` are put on `sys.path`. Every error is a ConfigurationError of one line.
"""

import difflib
import importlib
import json
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dotenv import dotenv_values
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from evals.errors import ConfigurationError, nearest_name
from evals.import_limits import connections_at_import
from evals.source_loader import load_file
from evals.target.key_placeholders import EXPORTERS_OFF, PLACEHOLDER

if TYPE_CHECKING:
    from evals.target.http_capture import Hosts

FILE: Final = "langgraph.json"
_SMALLEST: Final = '{"graphs": {"agent": "./agent.py:graph"}}'
_KEYS: Final = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
_EXAMPLES: Final = (".env.example", ".env.sample", ".env.template", "env.example")
"""Files that projects commit in the place of their `env`: they name its variables."""
_CREDENTIAL: Final = re.compile(r"^[ #]*(?:export )?([A-Z][A-Z0-9_]*_(?:KEY|TOKEN)) *=", re.MULTILINE)
_MANY: Final = 10  # graphs named in an error


@dataclass(frozen=True)
class LangGraphFile:
    """What a `langgraph.json` says. `graphs` maps a name to `path/to/file.py:attribute` or `package.module:attribute`;
    `environment` holds the variables of its `env`."""

    path: Path
    graphs: Mapping[str, str]
    dependencies: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    env_file: Path | None = None
    """The file that `env` names; it need not exist."""

    @property
    def folder(self) -> Path:
        """The folder that relative paths are relative to."""
        return self.path.parent


def read_langgraph_json(path: Path) -> LangGraphFile:
    """Reads the file at `path`, or in the folder `path`. Raises ConfigurationError."""
    file = path / FILE if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        below = sorted(each.parent.name for each in file.parent.glob(f"*/{FILE}"))
        advice = f"there is one in {', '.join(below)}: go there" if below else f"there is none; write {_SMALLEST}"
        raise ConfigurationError(f"{file}: {advice}") from None
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file}: is no UTF-8 text") from None
    try:
        data = json.loads(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise ConfigurationError(f"{file}:{line}: is no JSON ({getattr(error, 'msg', error)})") from None
    graphs = data.get("graphs") if isinstance(data, dict) else None
    if not isinstance(graphs, dict) or not graphs:
        raise ConfigurationError(f"{file}: names no graph; add {_SMALLEST}")
    places = {str(name): _place(file, str(name), value) for name, value in graphs.items()}
    dependencies = data.get("dependencies", [])
    if not isinstance(dependencies, list):
        raise ConfigurationError(f"{file}: `dependencies` is no list")
    env = data.get("env")
    return LangGraphFile(
        path=file.absolute(),
        graphs=places,
        dependencies=tuple(map(str, dependencies)),
        environment=_environment(file, env),
        env_file=file.parent / env if isinstance(env, str) else None,
    )


def load_graph(file: LangGraphFile, name: str, hosts: "Hosts | None" = None) -> Any:  # noqa: ANN401 - a compiled graph, a StateGraph or a factory
    """The graph of that name, or its factory; its import may connect to these hosts. Raises ConfigurationError."""
    if name not in file.graphs:
        hint = nearest_name(name, file.graphs) or f"; it names {', '.join(list(file.graphs)[:_MANY])}"
        raise ConfigurationError(f"{file.path}: there is no graph {name!r}{hint}")
    where, attribute = file.graphs[name].rsplit(":", 1)
    _extend_path(file)
    with connections_at_import(hosts) as connections:
        module = _module(file, name, where, connections.refused)
    found = getattr(module, attribute, None)
    if found is None:
        graphs = [each for each, value in vars(module).items() if isinstance(value, Pregel | StateGraph)]
        near = difflib.get_close_matches(attribute, graphs, n=1, cutoff=0.0)
        hint = f"did you mean {near[0]!r}?" if near else "name a compiled graph or its factory"
        raise ConfigurationError(f"{file.path}: graph {name!r}: {where} has no {attribute!r}; {hint}")
    if not isinstance(found, Pregel | StateGraph) and not callable(found):
        kind = type(found).__name__
        raise ConfigurationError(f"{file.path}: graph {name!r}: {attribute} is a {kind}, no graph and no factory")
    return found


@contextmanager
def environment_of(file: LangGraphFile, *, replay: bool) -> Iterator[None]:
    """The file's folder as working directory, its `env` in the environment and, in a replay, placeholders for missing
    API keys: models that are made at import want one. All is put back after the block. The process must do nothing else
    meanwhile that depends on either."""
    before, folder = dict(os.environ), Path.cwd()
    own = {**EXPORTERS_OFF, **file.environment}
    os.environ.update({name: value for name, value in own.items() if name not in before})
    if replay:
        for key in (*_KEYS, *_keys_in_examples(file.folder)):
            os.environ[key] = os.environ.get(key) or PLACEHOLDER
    os.chdir(file.folder)
    try:
        yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(before)


def _keys_in_examples(folder: Path) -> list[str]:
    """Names of credentials, also of those that are commented out."""
    files = [folder / name for name in _EXAMPLES if (folder / name).is_file()]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    return [name for text in texts for name in _CREDENTIAL.findall(text) if not name.startswith("LANG")]


def _place(file: Path, name: str, value: object) -> str:
    """`PATH:ATTRIBUTE`; LangGraph also takes an object with `path`."""
    place = value.get("path") if isinstance(value, dict) else value
    module, _, attribute = str(place or "").rpartition(":")
    if not isinstance(place, str) or not module or not attribute.isidentifier():
        raise ConfigurationError(f'{file}: graph {name!r} is {place!r}; write it as "./agent.py:graph"')
    if module.endswith((".js", ".ts", ".mjs", ".mts")):
        raise ConfigurationError(f"{file}: graph {name!r} is JavaScript; only graphs in Python can be run")
    return place


def _environment(file: Path, env: object) -> dict[str, str]:
    if env is None:
        return {}
    if isinstance(env, dict):
        return {str(name): str(value) for name, value in env.items()}
    if not isinstance(env, str):
        raise ConfigurationError(f"{file}: `env` is no file name and no object")
    named = file.parent / env
    if not named.is_file():  # often not committed, since it holds keys
        return {}
    return {name: value for name, value in dotenv_values(named).items() if value is not None}


def _extend_path(file: LangGraphFile) -> None:
    local = [file.folder / name for name in file.dependencies if name.startswith(".")]
    sources = [folder / "src" for folder in (file.folder, *local)]  # as an installation of the project has them
    for folder in (file.folder, *local, *filter(Path.is_dir, sources)):
        if (resolved := str(folder.resolve())) not in sys.path:
            sys.path.insert(0, resolved)


def _module(file: LangGraphFile, name: str, where: str, refused: Sequence[str]) -> Any:  # noqa: ANN401 - a module
    path = (file.folder / where).resolve()
    is_file = "/" in where or where.endswith(".py")
    if is_file and not path.is_file():
        raise ConfigurationError(f"{file.path}: graph {name!r}: there is no file {where}")
    try:
        if not is_file:
            return importlib.import_module(where)
        return module_of(path)
    except (Exception, SystemExit) as error:
        at = _last_line(error, file.folder)
        cause = refused[0] if refused else " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise ConfigurationError(
            f"{at or file.path}: graph {name!r} cannot be imported ({cause}){_hint(error)}"
        ) from error


def module_of(path: Path) -> Any:  # noqa: ANN401 - a module
    """The module of a file; one that is part of a package below `sys.path` is imported by its name, for its imports."""
    for folder in sorted({Path(each).resolve() for each in sys.path if each}, key=lambda each: -len(each.parts)):
        if folder in path.parents:
            parts = path.relative_to(folder).with_suffix("").parts
            packages = [folder.joinpath(*parts[: place + 1]) / "__init__.py" for place in range(len(parts) - 1)]
            if len(parts) > 1 and all(map(str.isidentifier, parts)) and all(each.is_file() for each in packages):
                return importlib.import_module(".".join(parts))
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last: a file there may have the name of its own package
    return load_file(path, "target_")


def _hint(error: BaseException) -> str:
    """What to do about a package or an environment variable that is missing."""
    if isinstance(error, ModuleNotFoundError):
        return "; install what the project needs beside evals"
    if isinstance(error, KeyError) and traceback.extract_tb(error.__traceback__)[-1].filename == "<frozen os>":
        return f"; set {error.args[0]}, in .env for one"
    return ""


def _last_line(error: BaseException, folder: Path) -> str:
    """File and line of the target's own code that failed: the innermost frame below the folder."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(folder.resolve()) and "site-packages" not in frame.filename
    ]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else ""

"""Settings of a project: `evals.toml` at its root."""

from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from evals.errors import ConfigurationError, nearest_name
from evals.package_digests import Signature, signature

FILE: Final = "evals.toml"
ANY_GRAPH: Final = "evals.target.pack"
"""The pack of a project that brings none of its own."""


@dataclass(frozen=True)
class Project:
    """What `evals.toml` says, with defaults for what it leaves out. Folders are relative to the root.

    Without the file they are the folders of this repository and its triage graph.
    """

    pack: str = "evals.triage.pack"
    """The module of the application under test; see `evals.application_pack`."""
    cases: str = "datasets"
    suites: str | None = None
    """Suites by name; None: those that ship with this package."""
    cassettes: str = "cassettes"
    reports: str = "reports"
    baselines: str = "evals/suites/baselines"

    @classmethod
    def at(cls, root: Path) -> "Project":
        """The settings of the project at `root`.

        Raises:
            ConfigurationError: the file is no TOML, has an unknown key, or a value that is no text.
        """
        path = root / FILE
        return _read(path, signature(path)) if path.is_file() else cls()


_OF_OTHERS: Final = {
    "pack": ANY_GRAPH,
    "cases": "evaluation",
    "suites": "evaluation/suites",
    "baselines": "evaluation/baselines",
}
"""Defaults where there is an `evals.toml`."""


@lru_cache(16)
def _read(path: Path, _as_of: Signature) -> Project:
    import tomllib  # noqa: PLC0415 - ten milliseconds, and most checkouts have no such file

    try:
        told: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read: {error}") from error
    settings = {name: value for name, value in told.items() if not isinstance(value, dict)}
    known = [field.name for field in fields(Project)]
    for name, value in settings.items():
        if name not in known:
            hint = nearest_name(name, known) or f"; known are {', '.join(known)}; others go below [target]"
            raise ConfigurationError(f"{path}: unknown setting {name!r}{hint}")
        if not isinstance(value, str) or not value:
            raise ConfigurationError(f"{path}: {name} is {value!r}; write a text, such as {_example(name)!r}")
    return Project(**{**_OF_OTHERS, **settings})


def _example(name: str) -> str:
    return _OF_OTHERS.get(name) or str(getattr(Project(), name))


def tables_of(root: Path) -> dict[str, Any]:
    """The tables of `evals.toml`, such as `[target.NAME]`, as they are written: a pack reads its own. Raises
    ConfigurationError as `Project.at` does."""
    path = root / FILE
    if not path.is_file():
        return {}
    import tomllib  # noqa: PLC0415 - as above

    Project.at(root)
    return {name: value for name, value in tomllib.loads(path.read_text("utf-8")).items() if isinstance(value, dict)}

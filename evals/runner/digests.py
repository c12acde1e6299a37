"""Digests of what a trial's result depends on, beside its case, variant and prompt: cassette, vectors, code."""

from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from evals.kept import digest_of
from evals.libraries import Signature, signature
from evals.modules import digest_of_code
from evals.package import PACKAGE
from evals.subject.sources import graph_sources

_HARNESS: Final = ("cassette", "dataset", "models", "runner", "subject")
_SINGLE: Final = (
    "errors.py",
    "kept.py",
    "libraries.py",
    "modules.py",
    "package.py",
    "uncollected.py",
    "workspace.py",
    "yaml_bounds.py",
    "yaml_keys.py",
)

ABSENT: Final = "absent"
"""The digest of a file that is not there."""


def file_digest(path: Path) -> str:
    """The digest of a file's bytes; "absent" when there is none."""
    try:
        return digest_of(path.read_bytes())
    except FileNotFoundError:
        return ABSENT


def digest_of_replaced(path: Path) -> str:
    """`file_digest` of a file that is only ever replaced as a whole, as cassettes and vectors are: read once for all
    trials."""
    return _digest_as_of(path, signature(path))


@lru_cache(1024)
def _digest_as_of(path: Path, _signature: Signature) -> str:
    return file_digest(path)


def code_digest(lock: Path) -> str:
    """The digest of the graph's code and agent prompts, of the harness that drives it, and of the pinned libraries.

    Supervisor prompts are left out: each variant brings the digest of its own.
    """
    return _joined(lock, signature(lock), tuple((path.name, digest) for path, digest in agent_prompts().items()))


@cache
def _joined(lock: Path, _signature: Signature, prompts: tuple[tuple[str, str], ...]) -> str:
    files = (*((path.name, digest) for path, digest in code_digests().items()), *prompts, ("lock", file_digest(lock)))
    return digest_of(*(part.encode() for file in files for part in file))


@cache
def code_digests() -> dict[Path, str]:
    """Each module that a trial's result depends on, with the digest of what this process executes of it, or of what
    stands there where it executes none."""
    harness = (path for folder in _HARNESS for path in sorted((PACKAGE / folder).rglob("*.py")))
    single = (PACKAGE / name for name in _SINGLE)
    return {path: digest_of_code(path) for path in (*_of_graph(".py"), *harness, *single)}


def agent_prompts() -> dict[Path, str]:
    """The prompt of each agent with the digest of its file: the graph reads it when it is put together."""
    return {path: digest_of_replaced(path) for path in _of_graph(".md")}


@cache
def _of_graph(suffix: str) -> list[Path]:
    return [path for path in graph_sources() if path.suffix == suffix]

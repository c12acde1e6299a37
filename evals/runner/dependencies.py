"""Digests of everything a trial depends on."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from evals.application_pack import Pack
from evals.content_cache import digest_of
from evals.import_hook import OWN, digest_of_code
from evals.installed_packages import LOCK, Signature, signature
from evals.models.case import Case
from evals.models.run import VariantInfo
from evals.models.suite import Suite
from evals.paths import PACKAGE
from evals.workspace import Workspace

_HARNESS: Final = (
    "cassettes/**/*.py",
    "models/**/*.py",
    "runner/**/*.py",
    "secrets/**/*.py",
    "shared/**/*.py",
    "errors.py",
    "content_cache.py",
    "installed_packages.py",
    "import_hook.py",
    "imported_files.py",
    "holdout.py",
    "application_pack.py",
    "paths.py",
    "shortcut_switch.py",
    "project.py",
    "prompt_history.py",
    "prompt_hunks.py",
    "named_prompts.py",
    "gc_pause.py",
    "fork_server.py",
    "workspace.py",
    "safe_yaml.py",
    "atomic_files.py",
)
"""Modules below this package that decide what a trace contains."""

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


def code_digest(root: Path, pack: Pack) -> str:
    """The digest of the graph's code and agent prompts, of the harness that drives it, and of the pinned libraries.

    Supervisor prompts are left out: each variant brings the digest of its own.
    """
    prompts = tuple((path.name, digest) for path, digest in read_files(pack, root).items())
    return _joined(root, signature(root / LOCK), prompts, pack)


@cache
def _joined(root: Path, _signature: Signature, prompts: tuple[tuple[str, str], ...], pack: Pack) -> str:
    files = (
        *((path.name, digest) for path, digest in code_digests(pack, root).items()),
        *prompts,
        ("lock", file_digest(root / LOCK)),
    )
    return digest_of(*(part.encode() for file in files for part in file))


@cache
def code_digests(pack: Pack, root: Path) -> dict[Path, str]:
    """Each module that a trial's result depends on, with the digest of what this process executes of it, or of what
    stands there where it executes none."""
    modules = (path for path in _of_pack(pack, root) if path.suffix == ".py")
    harness = (path for pattern in _HARNESS for path in sorted(PACKAGE.glob(pattern)))
    return {path: digest_of_code(path) for path in (*modules, *harness)}


def read_files(pack: Pack, root: Path) -> dict[Path, str]:
    """Each file that is no module, prompts of agents for one, with the digest of what stands there: the graph reads it
    when it is put together, or in a trial."""
    return {path: digest_of_replaced(path) for path in _of_pack(pack, root) if path.suffix != ".py"}


def foreign_modules(pack: Pack, root: Path) -> list[Path]:
    """The modules that our loader does not load, so that nobody knows what of them was executed: they must stay as they
    are while trials run."""
    own = [PACKAGE.parent / name for name in OWN]
    modules = (path for path in _of_pack(pack, root) if path.suffix == ".py")
    return [path for path in modules if not any(map(path.is_relative_to, own))]


@cache
def _of_pack(pack: Pack, root: Path) -> list[Path]:
    return pack.code_files(root)


def rests_on(
    suite: Suite, cases: Sequence[Case], variants: Sequence[VariantInfo], workspace: Workspace
) -> dict[str, str]:
    """Digests of suite, variants and their prompts, cases, recordings and code."""
    return {
        "suite": digest_of(suite.model_dump_json().encode()),
        "variants or prompts": digest_of(*(info.model_dump_json().encode() for info in variants)),
        "cases": digest_of(*(f"{case.id} {case.digest}".encode() for case in cases)),
        "cassettes": digest_of(
            file_digest(workspace.vectors).encode(),
            *((file_digest(workspace.distances).encode(),) if any(case.tree for case in cases) else ()),
            *(file_digest(workspace.cassette(case.id)).encode() for case in cases),
        ),
        "code": code_digest(workspace.root, workspace.pack),
    }


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """The things whose digests differ, or that only one of them has."""
    return tuple(sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name)))

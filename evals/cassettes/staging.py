"""Staging area for new answers before they are merged into their cassette."""

from glob import escape
from pathlib import Path
from typing import Final

from evals import atomic_files as disk
from evals.cassettes.cassette_files import load, merge_write, rendered
from evals.cassettes.interaction import Cassette, Interaction
from evals.cassettes.package_line_references import tree_for
from evals.errors import CassetteError
from evals.secrets.secret_filter import allowed_beside, refuse_secrets

_LOCK: Final = "arrived.lock"
"""Not the cassette's own: that one is held for as long as its file is read and written."""


def put(path: Path, interaction: Interaction, tree: str | None = None) -> None:
    """Keep an answer that is for the cassette at `path`; `tree` names the released package it is about.

    Raises SecretFoundError before anything is written, CassetteError if the system refuses to write it.
    """
    refuse_secrets(path, interaction, allowed_beside(path), tree=tree_for(path, tree) if tree else None)
    place = _place(path, interaction)
    with disk.writing(path, by=_LOCK):
        disk.replace(place, rendered(Cassette(path, [interaction], tree=tree)), synced=False)


def settle(path: Path, interaction: Interaction) -> None:
    """The cassette at `path` holds it now."""
    _place(path, interaction).unlink(missing_ok=True)


def take_in(path: Path) -> None:
    """Add to the cassette at `path` what came in for it and was not added, by whoever.

    Raises CassetteError if it cannot be read or written.
    """
    for place in _all(path, ""):
        try:
            found = load(place)
        except CassetteError:  # cut short by a power cut, which nobody was promised to survive
            found = Cassette(place)
        if found.interactions:
            merge_write(path, found.interactions, tree=found.tree)
        place.unlink(missing_ok=True)
    if _all(path, ".tmp"):
        with disk.writing(path, by=_LOCK):
            for half in _all(path, ".tmp"):
                half.unlink()


def _place(path: Path, interaction: Interaction) -> Path:
    return path.with_name(f".{path.name}.{interaction.key[:16]}.{interaction.sample}.arrived")


def _all(path: Path, suffix: str) -> list[Path]:
    dots = "." if suffix else ""
    return sorted(path.parent.glob(f"{dots}.{escape(path.name)}.{'[0-9a-f]' * 16}.*.arrived{suffix}"))

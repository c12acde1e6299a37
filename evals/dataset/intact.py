"""Whether a folder that was built once still holds every file: whoever cleans old files away leaves the folders.

Names and sizes are looked at, not contents: a folder is looked at each time it is used.
"""

import json
from pathlib import Path

from evals.kept import Kept


def note(listings: Kept, name: str, folder: Path) -> None:
    """Keep under `name` what the folder holds now."""
    files = (path for path in folder.rglob("*") if path.is_file())
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
    listings.put(name, json.dumps(sizes, sort_keys=True).encode())


def is_intact(listings: Kept, name: str, folder: Path) -> bool:
    """Whether every noted file is there in its size; False too if nothing readable was noted."""
    try:
        sizes = json.loads(listings.get(name) or b"")
        return folder.is_dir() and all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def publish(tree: Path, target: Path) -> None:
    """Move a folder that was built to its place; one that is there, of another process or with files lost, is filled.
    Raises OSError."""
    try:
        tree.rename(target)
    except OSError:
        if not target.is_dir():  # not the lost race that is fine, but a full or read-only disk
            raise
        refill(target, tree)


def refill(folder: Path, built: Path) -> None:
    """Move every file of `built` to its place in `folder`. Each comes by one rename, so that readers see it whole."""
    for file in [path for path in built.rglob("*") if path.is_file()]:
        place = folder / file.relative_to(built)
        place.parent.mkdir(parents=True, exist_ok=True)
        file.replace(place)

"""Files behind what a process has imported, to see later whether a new process would import the same."""

import importlib.util
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

from evals.package_digests import Signature, signature
from evals.source_loader import OWN, STARTED_NS


def imported_files() -> Iterator[str]:
    """Every module's file, the bytecode of libraries, a file in the current folder that would be imported in a module's
    place, and the folders that packages are installed in."""
    for name, module in list(sys.modules.items()):
        with suppress(TypeError):  # some put other objects there
            path = vars(module).get("__file__")
            if isinstance(path, str):
                yield path
                if name.partition(".")[0] not in OWN:  # our own bytecode is compared with its source
                    yield importlib.util.cache_from_source(path)
        yield f"{name.partition('.')[0]}.py"
    yield from (path for path in sys.path if path.endswith("-packages"))


def signatures(paths: Iterable[str]) -> dict[str, Signature]:
    """The signature of each file as it is now."""
    return {path: signature(path) for path in paths}


def any_newer(found: dict[str, Signature]) -> bool:
    """Whether one has changed (by its entry) since this process began, so that nobody knows what was imported of it."""
    return any(max(times[3:], default=0) > STARTED_NS for times in found.values())

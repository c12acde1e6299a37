"""A visitor who chooses a language chooses among those there are: a path in the choice reads and runs nothing."""

import builtins
import os
import pickle
import shutil
import tempfile
from pathlib import Path

import babel

RAN: list[str] = []
builtins.ran_here = RAN  # type: ignore[attr-defined]


class Uploaded:
    """What a pickle of somebody else's may hold."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("ran_here.append('code of the upload')",)


# an underscore anywhere in the path would be taken for the one between language and territory
places = (tempfile.gettempdir(), "/tmp", "/var/tmp", os.getcwd())
uploads = Path(next(place for place in places if "_" not in place), f"media{os.getpid()}").resolve()
uploads.mkdir()
try:
    Path(uploads, "avatar.dat").write_bytes(pickle.dumps({"territories": Uploaded()}))
    folder = Path(babel.__file__).resolve().parent / "locale-data"
    chosen = os.path.relpath(uploads / "avatar", folder)
    babel.Locale(chosen).territories
except (babel.UnknownLocaleError, ValueError, OSError):
    pass
finally:
    shutil.rmtree(uploads)

assert not RAN, RAN

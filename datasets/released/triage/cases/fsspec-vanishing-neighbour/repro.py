"""A folder can be listed although files disappear from it meanwhile."""

import os
import tempfile
from pathlib import Path

from fsspec.implementations.local import LocalFileSystem


class Busy(LocalFileSystem):
    """Somebody else tidies up between finding the names and asking about each."""

    victim = ""

    def info(self, path, **kwargs):
        if self.victim and not isinstance(path, str):
            os.unlink(self.victim)
            self.victim = ""
        return super().info(path, **kwargs)


with tempfile.TemporaryDirectory() as folder:
    names = [Path(folder) / f"part-{number}.tmp" for number in range(3)]
    for name in names:
        name.write_text("x")
    with os.scandir(folder) as entries:
        last = [entry.path for entry in entries][-1]
    fs = Busy()
    fs.victim = last
    found = sorted(Path(entry["name"]).name for entry in fs.ls(folder, detail=True))

assert found == sorted(name.name for name in names if str(name) != last), found

"""A commit that fails ends its transaction: what is written afterwards arrives."""

import tempfile
from pathlib import Path

from fsspec.implementations.local import LocalFileSystem

with tempfile.TemporaryDirectory() as folder:
    fs = LocalFileSystem(auto_mkdir=False)
    outbox = Path(folder) / "outbox"
    outbox.mkdir()
    try:
        with fs.transaction, fs.open(str(outbox / "monday.csv"), "wb") as file:
            file.write(b"1;2\n")
            outbox.rename(Path(folder) / "sent")
    except OSError:
        pass

    fs.pipe_file(f"{folder}/tuesday.csv", b"3;4\n")
    assert (Path(folder) / "tuesday.csv").is_file(), sorted(path.name for path in Path(folder).iterdir())

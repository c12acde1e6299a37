"""Imports that every worker needs, loaded once before workers are forked."""

import gc
import os
from contextlib import suppress
from pathlib import Path

from evals.application_pack import load_pack
from evals.fork_server import LOADED
from evals.gc_pause import uncollected
from evals.imported_files import imported_files
from evals.project import Project

with suppress(Exception), uncollected():  # broken, not installed, or of another project: each worker loads its own
    load_pack(Project.at(Path()).pack).preload()
    gc.freeze()  # shared with every worker, as nothing writes marks into it; before the collector looks at all of it

if LOADED in os.environ:
    with suppress(OSError):  # it is waited for in any case
        whole = Path(f"{os.environ[LOADED]}.part")
        whole.write_text("\n".join(imported_files()), encoding="utf-8")
        whole.replace(os.environ[LOADED])

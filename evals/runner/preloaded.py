"""Imports that every worker needs, loaded once before workers are forked."""

import gc
import os
from contextlib import suppress
from pathlib import Path

from evals.errors import EvalsError
from evals.fork_server import LOADED
from evals.gc_pause import uncollected
from evals.pack import load_pack
from evals.project import Project

with suppress(EvalsError), uncollected():  # of another project, or not installed: each worker loads its own
    load_pack(Project.at(Path()).pack).preload()

gc.freeze()  # shared with every worker, as long as no collector writes its marks into it

if LOADED in os.environ:
    with suppress(OSError):  # it is waited for in any case
        Path(os.environ[LOADED]).touch()

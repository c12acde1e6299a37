"""What every worker needs, loaded once: workers are forked off the process that imports this."""

import gc
import os
import threading
from contextlib import suppress
from pathlib import Path

from evals.runner.origin import LOADED
from evals.uncollected import uncollected

with uncollected():  # a fifth of the time it takes
    import bm25s  # type: ignore[import-untyped]  # noqa: F401 - loaded at the first search by words
    import chromadb  # noqa: F401 - loaded at the first search by meaning
    import tqdm  # type: ignore[import-untyped]

    import evals.runner.replay  # noqa: F401

tqdm.tqdm.set_lock(threading.RLock())  # its own one is the system's, and outlives a worker that is killed

gc.freeze()  # shared with every worker, as long as no collector writes its marks into it

if LOADED in os.environ:
    with suppress(OSError):  # it is waited for in any case
        Path(os.environ[LOADED]).touch()

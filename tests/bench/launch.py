"""A command run from a small process of its own, which says what it cost with all that it started.

What the command does not wait for comes here when it ends, such as the server its workers are forked off. And the peak
of a process never is less than what its parent held when it began: of a bench with thousands of cases that is a lot.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def main(told: Path, *command: str) -> int:
    """Its exit code; wall and processor seconds and the MB of the largest process as JSON in `told`."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = time.perf_counter()
    code = subprocess.run(command, check=False).returncode
    wall_s = time.perf_counter() - began
    with suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"wall_s": wall_s, "cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}
    told.write_text(json.dumps(cost), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))

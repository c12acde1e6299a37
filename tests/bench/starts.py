"""What starting costs: part `starts`. Wall time, the best of a few; beside it what bare Python takes."""

import subprocess
import sys
import time

ROUNDS = 3
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "evals --help": ["-m", "evals", "--help"],
    "import of a worker process": ["-c", "import evals.triage.recorded_graph"],
}


def main(_suite: str) -> int:
    base = 0.0
    for name, arguments in COMMANDS.items():
        times = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - started)
        base = base or min(times)
        print(f"start: {name}: {min(times):.2f} s, {min(times) / base:.1f} x bare Python")
    return 0

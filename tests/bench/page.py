"""One large report, rendered in this process; says what that took."""

import json
import time

from evals.report.html_page import render
from tests.bench.parent import peak_mb
from tests.bench.sampled import sampled, told
from tests.builders.large_run import a_large_run, a_recording


def main() -> None:
    """The time is that of rendering alone."""
    run = a_large_run()
    recorded = a_recording(run)
    started = time.process_time()
    with sampled() as found:
        page = render(run, recorded=recorded)
    cpu = time.process_time() - started
    size = len(page.encode()) / 2**20
    print(json.dumps({"cpu_s": cpu, "mb": size, "peak_mb": peak_mb(), "profile": told(found, cpu)}))


if __name__ == "__main__":
    main()

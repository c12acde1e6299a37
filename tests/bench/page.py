"""One large report, rendered in this process; says what that took."""

import json
import time

from evals.report.render import render
from tests.bench.parent import peak_mb
from tests.builders.large_run import a_large_run


def main() -> None:
    """The time is that of rendering alone."""
    run = a_large_run()
    started = time.process_time()
    page = render(run)
    print(json.dumps({"cpu_s": time.process_time() - started, "mb": len(page.encode()) / 2**20, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()

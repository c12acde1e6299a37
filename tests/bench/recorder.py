"""`record --rounds` in this process, for so many rounds; says what this process took."""

import asyncio
import json
import sys
from pathlib import Path

from evals.models.run_request import Options
from evals.pipeline.load_suite import selected
from evals.pipeline.record_suite import Batch, round_by_round
from evals.recording.batch_files import Answers, Round
from evals.recording.batch_rounds import RoundState
from evals.recording.endpoint import Endpoint
from evals.triage.dataset.web_search_server import running
from tests.bench.parent import peak_mb


class EnoughError(Exception):
    """So many rounds were answered."""


async def main(suite: str, command: str, most: int) -> None:
    """Record until the round after the last that is wanted, or to the end."""
    chosen = selected(suite, Path(), Options())
    batch = Batch(Path("rounds"), answer_with=command, recorded_by="bench")
    heard: list[RoundState] = []

    def announce(found: Round, standing: RoundState) -> None:
        heard.append(standing)
        if found.number > most:
            raise EnoughError

    with running(chosen.workspace.datasets) as url:
        try:
            await round_by_round(
                chosen, Answers(), batch, Endpoint(url, ""), 60, skip=(), say=lambda _: None, announce=announce
            )
        except EnoughError:
            heard.pop(0)
    print(json.dumps({"rounds": len(heard), "proven": heard[-1].proven, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))

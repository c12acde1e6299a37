"""What finding the nearest recorded request costs on the cassettes of this checkout: part of `make bench`.

Each recorded request is asked again with one word more in its system prompt, so that it misses; the limit is 50 ms of
processor time per miss in a cassette of 60 interactions.
"""

import json
import sys
import time
from pathlib import Path
from statistics import median

from evals.cassettes.calls_and_misses import MissRecord, nearest
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_files import load

LIMIT_MS = 50
BIG = 60


def missed(found: Interaction) -> MissRecord:
    """The same request under an edited prompt; a search is asked with another word."""
    request = json.loads(json.dumps(found.request))
    for message in request.get("messages", ())[:1]:
        message["content"] = f"Carefully. {message['content']}"
    if "query" in request:
        request["query"] += " again"
    return MissRecord("", 0, found.agent, found.method, found.uri, found.model, json.dumps(request).encode())


def took_ms(miss: MissRecord, cassette: Cassette) -> float:
    started = time.process_time()
    nearest(miss, cassette)
    return (time.process_time() - started) * 1000


def main() -> int:
    cassettes = [load(path) for path in sorted(Path("cassettes").glob("*.yaml"))]
    times = {
        cassette.path.name: [took_ms(missed(found), cassette) for found in cassette.interactions]
        for cassette in cassettes
    }
    every = [ms for of_one in times.values() for ms in of_one]
    if not every:
        print("bench: no cassette is here")
        return 1
    largest = max(cassettes, key=lambda cassette: len(cassette.interactions))
    print(
        f"nearest request: median {median(every):.1f} ms, worst {max(every):.1f} ms of {len(every)} misses "
        f"(largest cassette: {len(largest.interactions)} interactions; limit {LIMIT_MS} ms at {BIG})"
    )
    return int(max(every) > LIMIT_MS * max(1, len(largest.interactions) / BIG))


if __name__ == "__main__":
    sys.exit(main())

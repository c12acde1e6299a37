"""What the tape weighs, and what reading it costs beside the same interactions as schema 1 spelled them: part `tape`.

Processor time per case, the best of a few: as `verify` reads (everything computed again), as a replay reads that reads
for the first time and then again under a seal. Schema 1 is read as it was then: every body, every text, every key.
"""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Final

import yaml

from evals.cassettes.cassette_data import ORIGIN, Cassette, Interaction
from evals.cassettes.cassette_files import Readings, load
from evals.cassettes.cassette_format import digest
from evals.cassettes.cassette_schema import Document
from evals.cassettes.request_key import parse_json, request_key
from evals.secret_filter import scan, scan_text
from evals.shared.secrets import scanner as secret_rules
from tests.builders.written_out import in_schema_1

ROUNDS: Final = 3
EVERY: Final = 6  # one case in so many is timed; all are weighed
LIMIT: Final = 1 / 3  # of schema 1's time, under a seal


def main(_suite: str) -> int:
    paths = sorted(Path("cassettes").glob("*.yaml"))
    if not paths:
        print("bench: no cassette is here")
        return 1
    timed = [load(path) for path in paths[::EVERY]]
    _weigh(paths)
    with tempfile.TemporaryDirectory() as scratch:
        old, full, sealed = (
            mean(times) for times in zip(*(_times(tape, Path(scratch)) for tape in timed), strict=True)
        )
    print(
        f"tape: {len(timed)} cases read, mean per case: schema 1 {old * 1e3:.0f} ms; now {full * 1e3:.0f} ms "
        f"({full / old:.2f} of it), verified before {sealed * 1e3:.0f} ms ({sealed / old:.2f}, limit {LIMIT:.2f})"
    )
    return int(sealed / old > LIMIT)


def _weigh(paths: list[Path]) -> None:
    size = sum(path.stat().st_size for path in paths)
    count = sum(path.read_text(encoding="utf-8").count("\n  x_meta: ") for path in paths)
    print(f"tape: {len(paths)} files, {size / 1e6:.1f} MB, {count} interactions, {size / count:.0f} bytes each")


def _times(tape: Cassette, scratch: Path) -> tuple[float, float, float]:
    text = in_schema_1(tape)
    readings = Readings(scratch)
    load(tape.path, readings)
    return (
        _best(lambda: _read_schema_1(text)),
        _best(lambda: load(tape.path)),
        _best(lambda: load(tape.path, readings)),
    )


def _best(read: Callable[[], object]) -> float:
    return min(_took(read) for _ in range(ROUNDS))


def _took(read: Callable[[], object]) -> float:
    secret_rules._seen.cache_clear()
    started = time.process_time()
    read()
    return time.process_time() - started


def _read_schema_1(text: str) -> list[Interaction]:
    """The steps of the reader of schema 1, by today's functions; those that got faster since speed it up as well."""
    assert not list(scan_text(text))
    found = []
    for entry in Document.model_validate(yaml.load(text, Loader=yaml.CSafeLoader)).interactions:
        request, response = parse_json(entry.request.body), parse_json(entry.response.body.string)
        uri = entry.request.uri.removeprefix(ORIGIN)
        assert request_key(entry.request.method, uri, entry.request.body.encode()) == entry.x_meta.key
        assert digest(entry.response.body.string) == entry.x_meta.response_sha256
        meta = entry.x_meta.model_dump(exclude={"response_sha256"})
        scan(request), scan(response), scan(json.loads(json.dumps(meta)))
        found.append(Interaction(**meta, method=entry.request.method, uri=uri, request=request, response=response))
    return found


if __name__ == "__main__":
    raise SystemExit(main(""))

"""What thousands of trials take in memory: of the parent of a run, of a recorder by rounds, of a report."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from evals.cassettes.cassette_files import load
from evals.recording.batch_files import custom_id
from evals.workspace import Workspace
from tests.bench.cost import REPOSITORY, run
from tests.bench.generated import a_checkout
from tests.bench.line import Line
from tests.bench.scene import a_scene, a_suite
from triage.codebase.embed import VectorCache

ASKED = 6400
"""Trials that the goal is about; fewer say nothing of it."""
TRIALS = int(os.environ.get("BENCH_TRIALS", ASKED))
PARENT = 300
RECORDER = 600
ROUNDS = 8
VARIANTS = (
    *({"name": name, "prompt": name} for name in ("v1", "v2", "v3", "v5")),
    *({"name": name, "prompt": "v2", "guards": name} for name in ("none", "prd")),
)
ANSWERER = """
import json, sys
known = json.load(open(sys.argv[1]))
for line in sys.stdin:
    asked = json.loads(line)["custom_id"]
    if asked in known:
        print(json.dumps({"custom_id": asked, "response": {"status_code": 200, "body": known[asked]}, "error": None}))
"""


def parent(folder: Path) -> Iterator[Line]:
    """Of the process that the user starts: its workers are left out."""
    checkout = a_checkout(folder / "parent", -(-TRIALS // 3))
    found = json.loads(run(["-m", "tests.bench.parent", str(checkout)], checkout).out.splitlines()[-1])
    yield Line(
        f"peak memory of the parent, {found['trials']:,} generated trials",
        f"≤ {PARENT} MB",
        f"{found['peak_mb']:.0f} MB, of which {found['start_mb']:.0f} before the first trial: "
        f"{(found['peak_mb'] - found['start_mb']) / found['trials'] * 1024:.1f} kB a trial",
        found["peak_mb"] <= PARENT if found["trials"] >= ASKED else None,
    )


def rounds(folder: Path) -> Iterator[Line]:
    """13 cases under six variants, answered from the tape; every tenth vector is unknown: the model is loaded."""
    scene = a_scene(folder / "rounds", cassettes=False)
    paths = sorted((REPOSITORY / "cassettes").glob("*.yaml"))[::7][:13]
    suite = a_suite(scene, "rounds", {"ids": [path.stem for path in paths]}, [*VARIANTS])
    known = {custom_id(found.key, found.sample): found.response for path in paths for found in load(path).interactions}
    (scene / "known.json").write_text(json.dumps(known), encoding="utf-8")
    (scene / "answer.py").write_text(ANSWERER, encoding="utf-8")
    _forget_vectors(Workspace.at(scene).vectors)
    command = f"{sys.executable} answer.py known.json"
    cost = run(["-m", "tests.bench.recorder", str(suite), command, str(ROUNDS)], scene)
    found = json.loads(cost.out.splitlines()[-1])
    yield Line(
        f"memory of `record --rounds`, 13 cases x 6 variants, after {found['rounds']} rounds",
        f"≤ {RECORDER} MB",
        f"{found['peak_mb']:.0f} MB at most, {found['proven']} of 78 trials proven ({cost.seconds})",
        found["peak_mb"] <= RECORDER,
    )


def _forget_vectors(path: Path) -> None:
    cache = VectorCache(path)
    for key in sorted(cache._known)[::10]:
        del cache._known[key]
    path.unlink()
    cache.save(path)


def report(folder: Path) -> Iterator[Line]:
    """The page of 1,000 cases under three variants, as dense as recorded ones, with all raw answers."""
    found = json.loads(run(["-m", "tests.bench.page"], folder).out.splitlines()[-1])
    yield Line(
        "report of 1,000 x 3",
        "≤ 4 s, ≤ 6 MB",
        f"{found['cpu_s']:.1f} s of processor, {found['mb']:.2f} MB, peak memory {found['peak_mb']:.0f} MB",
        found["cpu_s"] <= 4 and found["mb"] <= 6,
        found["profile"],
    )

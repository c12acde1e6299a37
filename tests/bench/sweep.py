"""What a sweep costs: 50 points over 64 generated cases, command start to finished page: part `sweep`.

Two cases are recorded against a server on loopback under several floors, then multiplied: a copy differs in its name,
and so in the link of its issue, which the writer is told. Printed are the wall time and, for a machine that is busy
with other things, the processor time of the command and its workers.
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from evals.dataset.load import load_case, load_cases
from evals.dataset.policy import load_policy
from evals.models.case import Case
from tests.bench.generated import copies
from tests.builders.checkout import a_checkout, evals
from tests.builders.llm_server import an_llm_server, answering, next_stop

CASES = 64
FLOORS = (None, (0.9, 0.7, 2))  # a floor that two findings cannot satisfy leaves the tape
GRIDS = {
    "guards and thresholds": ("--guards", "all", "--single", "0.6:0.9:0.1", "--corroborated", "0.6"),
    "thresholds": ("--single", "0.5:0.95:0.05", "--corroborated", "0.35:0.85:0.1"),
}


def variants() -> list[dict[str, object]]:
    """One per floor that is recorded."""
    named = [
        dict(zip(("single", "corroborated", "min_findings"), floor, strict=True)) if floor else None for floor in FLOORS
    ]
    return [
        {"name": f"floor-{number}", "prompt": "v2"} | ({"confidence_floor": floor} if floor else {})
        for number, floor in enumerate(named)
    ]


def recorded(folder: Path) -> Path:
    """A checkout of two recorded cases, one on either side of the split."""
    checkout = a_checkout(folder, variants=variants(), candidate="floor-0", reference="floor-1")
    labels = checkout / "datasets" / "triage" / "cases" / "wrong-sum" / "case.yaml"
    labels.write_text(yaml.safe_dump(yaml.safe_load(labels.read_text()) | {"split": "gate"}))
    with an_llm_server(answering(lambda told: next_stop(told, ("investigator", "writer")), confidence=0.7)) as llm:
        said = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)
    if said.code:
        sys.exit(said.out + said.err)
    return checkout


def multiply(checkout: Path, count: int) -> None:
    """Copies of the recorded cases, until there are `count`."""
    originals = load_cases(checkout / "datasets")
    for number in range(count - len(originals)):
        case = list(originals.values())[number % len(originals)]
        _copy(checkout, case, f"{case.id}-{number:04}")


def _copy(checkout: Path, case: Case, name: str) -> None:
    folder = shutil.copytree(checkout / "datasets/triage/cases" / case.id, checkout / "datasets/triage/cases" / name)
    labels = folder / "case.yaml"
    labels.write_text(yaml.safe_dump(yaml.safe_load(labels.read_text()) | {"id": name}))
    link = load_case(checkout / "datasets", name, load_policy(checkout / "datasets/triage/policy.yaml")).url
    cassettes = checkout / "cassettes"
    text = copies(cassettes / f"{case.id}.yaml", {name: {case.url: link}})[name]
    (cassettes / f"{name}.yaml").write_text(text, encoding="utf-8")


def timed(checkout: Path, *words: str) -> tuple[float, float]:
    """Wall and processor seconds of `evals WORDS`."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "evals", *words], cwd=checkout, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1, 3) or done.stderr:
        sys.exit(done.stdout + done.stderr)
    return time.perf_counter() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(_suite: str) -> int:
    """Print one line per grid, for a first sweep and for one that finds everything in the cache."""
    with tempfile.TemporaryDirectory() as scratch:
        checkout = recorded(Path(scratch) / "checkout")
        multiply(checkout, CASES)
        for name, words in GRIDS.items():
            shutil.rmtree(checkout / ".cache" / "trials", ignore_errors=True)
            for state in ("first", "again"):
                wall, cpu = timed(checkout, "sweep", "tiny.yaml", "--jobs", "2", *words)
                told = json.loads((checkout / "reports/sweep/sweep.json").read_text())
                print(
                    f"{name}, {state}: {told['points']} points x {sum(told['cases'].values())} cases, "
                    f"{told['executed']} trials, {len(told['behaviours'])} behaviours: "
                    f"{wall:.1f} s wall (limit 30 s), {cpu:.1f} s processor",
                    flush=True,
                )
    return 0

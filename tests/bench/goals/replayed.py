"""Trials per second of one process, with what a trial brings: code to index, a cassette to read, three states."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from evals.runner.case_task import CaseTask, run_case
from evals.shortcut_switch import SWITCH
from evals.suites.suite_files import read_suite, select
from evals.triage.dataset.load_cases import load_cases
from evals.workspace import Workspace
from tests.bench.cost import Cost, run
from tests.bench.line import Line
from tests.bench.sampled import sampled, told
from tests.bench.scene import a_scene

GOAL = 40
EVERY = 4
"""One case in so many: as many kinds of code as all have, in a quarter of the time."""


def lines(folder: Path) -> Iterator[Line]:
    """The short path and the plain one, each in a fresh process with nothing cached."""
    short, plain = (_rate(folder / name, **more) for name, more in (("short", {}), ("plain", {SWITCH: "1"})))
    yield Line(
        "replay in one process, index and cassette included",
        f"≥ {GOAL} trials/s",
        f"{short['per_cpu']:.1f} trials a second of processor ({short['per_wall']:.1f} of wall), "
        f"{short['states']:.1f} frozen states each",
        short["per_cpu"] >= GOAL,
        short["profile"],
    )
    yield Line("the same on the plain path", "", f"{plain['per_cpu']:.1f} trials a second of processor", None)


def _rate(scene: Path, **environment: str) -> dict:
    done: Cost = run(["-m", "tests.bench.goals.replayed", str(a_scene(scene))], scene, environment=environment)
    return json.loads(done.out.splitlines()[-1])


def measured(root: Path) -> dict[str, object]:
    """Imports are paid for before the clock starts: a run pays them once, however many trials it has."""
    import evals.runner.preloaded_imports  # noqa: F401

    place, suite = Workspace.at(root), read_suite("prompts")
    cases = select(load_cases(place.datasets), suite.cases)[::EVERY]
    wall, cpu = time.perf_counter(), time.process_time()
    with sampled() as found:
        traces = [
            trace
            for case in cases
            for trace in run_case(
                CaseTask(case, suite.variants, 0, place.cassette(case.id), place.datasets, place.cache, place.vectors)
            )
        ]
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if {trace.provenance.label for trace in traces} != {"exact"}:
        raise RuntimeError("a trial of the committed suite does not replay")
    states = sum(len(trace.points) for trace in traces) / len(traces)
    rates = {"per_cpu": len(traces) / cpu, "per_wall": len(traces) / wall, "states": states}
    return {**rates, "profile": told(found, cpu)}


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]))))

"""What workers do in tests: real processes that answer, hang, or die, by the name of the variant they are given."""

import os
import signal
import time
from pathlib import Path

from evals.models.trace import Trace
from evals.runner.case_task import CaseTask
from tests.builders.case import a_case
from tests.builders.facts import a_variant
from tests.builders.trace import a_trace


def a_case_task(folder: Path, *variants: str, case_id: str = "local-bug", trial_timeout: float = 60.0) -> CaseTask:
    """A task whose variants are named after what is to happen."""
    return CaseTask(
        case=a_case(case_id),
        variants=tuple(a_variant(name).variant for name in variants),
        sample=0,
        cassette=folder / "cassettes" / f"{case_id}.yaml",
        datasets=folder / "datasets",
        cache=folder,
        vectors=folder / "vectors.npz",
        timeout_s=trial_timeout,
    )


def act(task: CaseTask) -> list[Trace]:
    """Do what the variants' names say: `kill`, `exit` and `hang` never return."""
    for variant in task.variants:
        match variant.name.partition("-")[0]:
            case "kill":  # as the kernel does where memory is used up
                os.kill(os.getpid(), signal.SIGKILL)
            case "exit":
                os._exit(7)
            case "hang":
                time.sleep(600)
    return [a_trace(case_id=task.case.id, variant=variant.name) for variant in task.variants]

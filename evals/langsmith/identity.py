"""Ids that follow from content: what is sent twice has one id, so that nothing is there twice.

Ids of runs are UUIDs of version 7, as the SDK wants them: the time in front is that of the run, the rest a digest in
place of chance. All others are of version 5.
"""

import datetime as dt
import hashlib
from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid5

_OURS: Final = uuid5(NAMESPACE_URL, "https://triage-evals.invalid/langsmith")


def example_id(dataset: UUID, case_id: str) -> UUID:
    """The example of a case: the same whatever its labels become; another one in a dataset that was made anew."""
    return uuid5(_OURS, f"example {dataset} {case_id}")


def run_id(experiment: UUID, path: str, start: dt.datetime) -> UUID:
    """The run at `path` ("case sample decision-2 call-1") of an experiment, which began at `start`."""
    chance = hashlib.sha256(f"run {experiment} {path}".encode()).digest()
    milliseconds = int(start.timestamp() * 1000)
    number = milliseconds << 80 | int.from_bytes(chance[:10], "big")
    number = number & ~(0xF << 76) | 0x7 << 76  # the version
    return UUID(int=number & ~(0x3 << 62) | 0x2 << 62)  # the variant


def feedback_id(run: UUID, key: str) -> UUID:
    """What one scorer says of one run."""
    return uuid5(_OURS, f"feedback {run} {key}")

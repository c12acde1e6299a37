"""One round: the suite in a process of its own, in the order and with the environment of a seed."""

import os
import random
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

from junitparser import Error, JUnitXml
from junitparser import Failure as Failed

from tests.repeat.results import Failure

ROOT: Final = Path(__file__).parents[2]
ZONES: Final = ("UTC", "Pacific/Kiritimati", "America/St_Johns", "Pacific/Niue", "Asia/Kathmandu")
"""14 hours before UTC to 11 behind it: it is another day somewhere at any time."""
HASHES: Final = 2**32


@dataclass(frozen=True)
class Plan:
    """How a round is run. `bucket` is what pytest-random-order shuffles within."""

    number: int
    seed: int
    zone: str
    bucket: str
    is_loaded: bool

    @classmethod
    def of(cls, number: int, first_seed: int) -> Self:
        """Every second round has load; every fourth shuffles all tests, so that shared fixtures are made many times."""
        seed = first_seed + number
        zone = random.Random(seed).choice(ZONES)  # noqa: S311 - a zone, no key
        return cls(number, seed, zone, "global" if number % 4 == 2 else "module", number % 2 == 1)

    def __str__(self) -> str:
        order = "all tests shuffled" if self.bucket == "global" else "files shuffled"
        return f"seed {self.seed}, {order}, {self.zone}, {'loaded' if self.is_loaded else 'alone'}"

    @property
    def environment(self) -> dict[str, str]:
        """What differs from the environment here."""
        return {"TZ": self.zone, "PYTHONHASHSEED": str(self.seed % HASHES)}

    def words(self, pytest_args: Sequence[str]) -> list[str]:
        """Arguments of pytest; those given win."""
        order = [f"--random-order-bucket={self.bucket}", f"--random-order-seed={self.seed}"]
        return ["-q", "-n", "auto", "--dist", "worksteal", *order, *pytest_args]

    def command(self, pytest_args: Sequence[str]) -> str:
        """What to type to run it again, without its load."""
        words = [*(f"{name}={value}" for name, value in self.environment.items()), ".venv/bin/python", "-m", "pytest"]
        return shlex.join([*words, *self.words(pytest_args)])


@dataclass(frozen=True)
class Ran:
    """How many tests were run, which failed, and all that pytest said."""

    tests: int
    failures: list[Failure]
    output: str


def run(plan: Plan, pytest_args: Sequence[str]) -> Ran:
    """Run the suite once. A pytest that does not come to its end is a failure as well."""
    with TemporaryDirectory(prefix="repeat-") as scratch:
        report = Path(scratch) / "junit.xml"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *plan.words(pytest_args), f"--junitxml={report}"],
            cwd=ROOT,
            env={**os.environ, **plan.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        tests, failures = read_report(report)
    if done.returncode and not failures:
        last = done.stdout.strip().splitlines()[-1:] or ["it said nothing"]
        failures = [Failure("pytest", f"exit code {done.returncode}: {last[0]}")]
    return Ran(tests, failures, done.stdout)


def read_report(path: Path) -> tuple[int, list[Failure]]:
    """How many tests a JUnit file tells of, and which failed or broke; nothing if there is no such file."""
    if not path.exists():
        return 0, []
    cases = [case for suite in JUnitXml.fromfile(str(path)) for case in suite]
    failures = [
        Failure(f"{case.classname}::{case.name}", (result.message or "").partition("\n")[0][:300])
        for case in cases
        for result in case.result
        if isinstance(result, Failed | Error)
    ]
    return len(cases), failures

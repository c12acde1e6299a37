"""Mutation tests: `python -m tests.mutation` changes one rule at a time, in a copy, and runs the tests that ought to
fail. Prints a table of mutants and tests; exit code 1 if no test notices one.

    python -m tests.mutation [WORD]     only the mutants whose line in the table holds WORD

Each mutant has a process of its own, forked after the heavy libraries are imported, so that it costs a second or two.
"""

import importlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.mutation.mutants import Mutant, mutants

CHECKOUT: Final = Path(__file__).parents[2]
HEAVY: Final = (
    "pytest",
    "pytest_asyncio",
    "hypothesis.stateful",
    "langgraph.graph",
    "langgraph.checkpoint.memory",
    "langchain_openai",
    "langchain_tavily",
    "fastapi",
)
LIVED: Final = "**none: it lived**"


def main(word: str) -> int:
    """Run the mutants and print the table."""
    for module in HEAVY:
        importlib.import_module(module)
    living = 0
    print("| mutant | first test that turned red |\n|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "checkout"
        for name in ("evals", "triage", "tests"):
            shutil.copytree(CHECKOUT / name, copy / name)
        for path in CHECKOUT.iterdir():  # what no mutant changes
            if not (copy / path.name).exists():
                (copy / path.name).symlink_to(path)
        wanted = [mutant for mutant in mutants(CHECKOUT) if word in f"{mutant.path} {mutant.label}"]
        if (noticed := _red(copy, tuple({test for mutant in wanted for test in mutant.tests}))) is not None:
            print(f"tests are red without any mutant: {noticed}", file=sys.stderr)
            return 2
        for mutant in wanted:
            noticed = _noticed(copy, mutant)
            living += noticed is None
            print(f"| {mutant.path}: {mutant.label} | {noticed or LIVED} |", flush=True)
    return 1 if living else 0


def _noticed(copy: Path, mutant: Mutant) -> str | None:
    """The first test that fails while the copy is changed."""
    path = copy / mutant.path
    whole = path.read_text(encoding="utf-8")
    path.write_text(mutant.change(whole), encoding="utf-8")
    os.utime(path, (0, 0))  # or bytecode of the same second and size would pass for this file's
    try:
        return _red(copy, mutant.tests)
    finally:
        path.write_text(whole, encoding="utf-8")


def _red(copy: Path, tests: tuple[str, ...]) -> str | None:
    """The first of the tests that fails in the copy; None if all pass."""
    log = copy.parent / "log"
    child = os.fork()
    if child == 0:
        _tested(copy, tests, log)
    os.waitpid(child, 0)
    text = log.read_text(encoding="utf-8")
    if " passed" not in text and " failed" not in text and " error" not in text:
        raise RuntimeError(f"pytest did not get to its end:\n{text[-2000:]}")
    found = re.search(r"^(?:FAILED|ERROR) tests/(\S+(?:\[.*?\])?)", text, re.MULTILINE)
    return found[1] if found else None


def _tested(copy: Path, tests: tuple[str, ...], log: Path) -> None:
    """In the child: run the tests and end; the mutated packages are imported here for the first time."""
    import pytest

    for name in [name for name in sys.modules if name.partition(".")[0] in ("evals", "triage", "tests")]:
        del sys.modules[name]
    sys.path[:] = [str(copy), *(entry for entry in sys.path if entry not in ("", str(CHECKOUT)))]
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy)  # of the processes that tests start
    with log.open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *(f"tests/{one}" for one in tests)])
    sys.stdout.flush()
    os._exit(int(code))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))

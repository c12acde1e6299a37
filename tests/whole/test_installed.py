"""The projects in `docs/examples/` with the wheel: set up from nothing, recorded, blessed and judged."""

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied, live_model, say, shell
from tests.builders.installed import OF_EXAMPLES, ROOT, VERSIONS, built_wheel, installed, tracked

pytestmark = pytest.mark.slow

EXAMPLES = {"support": ("router", "prompts/router"), "research": ("supervisor", "prompts/supervisor")}
"""Example -> the router that `init` is given, the folder of its prompts."""
OF_TRIAGE = {"chromadb", "onnxruntime", "fastapi", "tavily", "langchain_tavily", "tree_sitter", "tokenizers"}
OF_OPENAI = {"openai", "langchain_openai"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def bin_folder(wheel, tmp_path_factory):
    """Of an environment with the wheel, pytest and what the examples need."""
    return installed(tmp_path_factory.mktemp("installed"), wheel, *OF_EXAMPLES, "pytest>=8")


def typed(project, bin_folder, line, **environment):
    """Exit code and output of a line that a stranger types with the environment on the path."""
    return shell(project, f"PATH={bin_folder}:$PATH; {line}", PYTHONPATH="", **environment)


def importable(bin_folder, names):
    code = f"import json, importlib.util as u; print(json.dumps([n for n in {sorted(names)} if u.find_spec(n)]))"
    return set(json.loads(subprocess.check_output([bin_folder / "python", "-c", code], text=True)))


def test_the_wheel_holds_every_file_of_both_packages(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())

    assert [path for path in tracked() if path.as_posix() not in names] == []


def test_the_changelog_has_an_entry_for_the_version_of_the_wheel(wheel):
    version = wheel.name.split("-")[1]

    assert f"\n## [{version}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.skipif(VERSIONS != "", reason="the versions make no difference to what is installed")
def test_the_core_needs_no_package_of_triage_and_no_sdk_of_openai(wheel, tmp_path):
    bin_folder = installed(tmp_path / "core", wheel)

    assert importable(bin_folder, OF_TRIAGE | OF_OPENAI) == set()
    _, place = typed(tmp_path, bin_folder, "python -c 'import evals; print(evals.__file__)'")
    assert Path(place.strip()).is_relative_to(tmp_path / "core")
    code, said = typed(tmp_path, bin_folder, "evals --help")
    assert (code, said.strip().startswith("Usage: evals")) == (0, True), said
    write(tmp_path / "langgraph.json", '{"graphs": {"a": "./a.py:graph"}}')
    write(tmp_path / "a.py", "import langchain_openai\n")
    code, said = typed(tmp_path, bin_folder, "evals init")
    assert (code, "install what the project needs beside evals" in said) == (2, True), said


@pytest.mark.parametrize("name", EXAMPLES if VERSIONS else ["research"])  # the tutorial is a test with the other
def test_a_project_is_set_up_recorded_blessed_edited_and_judged_again(name, bin_folder, tmp_path):
    assert importable(bin_folder, OF_TRIAGE) == set()
    project, (router, prompts) = copied(name, tmp_path), EXAMPLES[name]
    (project / "evals.toml").unlink()
    for folder in ("evaluation/suites", "evaluation/baselines", "cassettes"):
        shutil.rmtree(project / folder, ignore_errors=True)

    def step(line, expected, words="", **environment):
        code, said = typed(project, bin_folder, line, **environment)
        assert (code, words in said) == (expected, True), said

    step(f"evals init --router {router} --prompts '{prompts}/*.md'", 0, "wrote evals.toml")
    (project / "evaluation" / "cases" / "example.yaml").unlink()
    write(project / "evaluation" / "suites" / "first.yaml", f"variants: [{{name: now, config: {{{router}: v1}}}}]\n")
    with live_model(say) as live:
        step("evals record first --recorded-by tests", 0, "", **live)
        step("evals bless first --jobs 1", 0)
        step("evals run first --jobs 1", 0, "is not shown to be worse than its baseline")
        step("python -m pytest -q --evals first", 0)

    prompt = project / prompts / "v1.md"
    text = prompt.read_text(encoding="utf-8")
    prompt.write_text(f"{text}Be kind.\n", encoding="utf-8")
    edited = f"{prompts}/v1.md:{len(text.splitlines()) + 1}"
    step("evals run first --jobs 1", 3, f"(changed: {edited}: added 'Be kind.'); record them with")

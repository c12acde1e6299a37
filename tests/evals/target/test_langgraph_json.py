"""`langgraph.json`: which graph it names, how that is loaded, and one clear line for each way it can be wrong."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.pregel import Pregel

from evals.errors import ConfigurationError
from evals.target.langgraph_json import PLACEHOLDER, environment_of, load_graph, read_langgraph_json

GRAPH = """
from langgraph.graph import START, StateGraph
from {words} import greet
builder = StateGraph(dict)
builder.add_node("node", lambda state: {{"said": greet()}})
builder.add_edge(START, "node")
graph = builder.compile()
def make(config):
    return graph
number = 3
"""


@pytest.fixture(autouse=True)
def _clean_imports() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", None) and "pytest-of" in str(sys.modules[name].__file__):
            del sys.modules[name]


def repository(folder: Path, graphs: dict[str, Any] | str, **members: Any) -> Path:
    """A repository with a package in `src/` and a loose file, as LangGraph's templates have them."""
    (folder / "src" / "team").mkdir(parents=True)
    (folder / "src" / "team" / "__init__.py").write_text("")
    (folder / "src" / "team" / "words.py").write_text("def greet():\n    return 'hello'\n")
    (folder / "src" / "team" / "agent.py").write_text(GRAPH.format(words="team.words"))
    (folder / "words_beside.py").write_text("def greet():\n    return 'hi'\n")
    (folder / "loose.py").write_text(GRAPH.format(words="words_beside"))
    (folder / "broken.py").write_text("import json\n\nimport no_such_package\n")
    (folder / "unreadable.py").write_text("graph = (\n")
    (folder / "data.txt").write_text("read relative to the root\n")
    (folder / "reads.py").write_text(GRAPH.format(words="words_beside") + "text = open('data.txt').read()\n")
    text = graphs if isinstance(graphs, str) else json.dumps({"graphs": graphs, **members})
    (folder / "langgraph.json").write_text(text)
    return folder


@pytest.mark.parametrize(
    "place",
    [
        "./src/team/agent.py:graph",
        "src/team/agent.py:make",
        "./loose.py:graph",
        "team.agent:graph",
        {"path": "./loose.py:graph"},
    ],
    ids=str,
)
def test_a_graph_is_loaded_from_a_file_or_a_module(place: Any, tmp_path: Path) -> None:
    file = read_langgraph_json(
        repository(tmp_path, {"agent": place, "other": "./broken.py:graph"}, dependencies=["./src"])
    )

    graph = load_graph(file, "agent")

    graph = graph if isinstance(graph, Pregel) else graph({})
    assert graph.invoke({"said": ""})["said"] in {"hello", "hi"}


def test_a_graph_that_is_loaded_twice_is_the_same(tmp_path: Path) -> None:
    file = read_langgraph_json(repository(tmp_path, {"agent": "./loose.py:graph"}))

    assert load_graph(file, "agent") is load_graph(file, "agent")


@pytest.mark.parametrize(
    ("graphs", "name", "message"),
    [
        ("{", "a", r"langgraph\.json:1: is no JSON"),
        ("[]", "a", r"names no graph; add"),
        ({}, "a", r"names no graph; add"),
        ({"support": "./loose.py:graph"}, "suport", r"there is no graph 'suport'; did you mean 'support'\?"),
        ({"support": "./loose.py:graph"}, "x", r"there is no graph 'x'; it names support"),
        ({"a": "./nowhere.py:graph"}, "a", r"graph 'a': there is no file ./nowhere.py"),
        ({"a": "loose.py"}, "a", r"graph 'a' is 'loose.py'; write it as"),
        ({"a": "./agent.ts:graph"}, "a", r"JavaScript"),
        ({"a": "./loose.py:grpah"}, "a", r"loose.py has no 'grpah'; did you mean 'graph'\?"),
        ({"a": "./loose.py:number"}, "a", r"number is a int, no graph and no factory"),
        (
            {"a": "./broken.py:graph"},
            "a",
            r"broken.py:3: graph 'a' cannot be imported \(ModuleNotFoundError: .*no_such",
        ),
        ({"a": "./unreadable.py:graph"}, "a", r"unreadable.py:1: graph 'a' cannot be imported \(SyntaxError"),
        ({"a": "no.such.module:graph"}, "a", r"cannot be imported \(ModuleNotFoundError"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(graphs: Any, name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        load_graph(read_langgraph_json(repository(tmp_path, graphs)), name)

    assert "\n" not in str(caught.value)


def test_a_folder_without_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"langgraph\.json: there is none; write"):
        read_langgraph_json(tmp_path)


def test_a_target_finds_its_files_its_variables_and_a_placeholder_key(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "own")
    monkeypatch.delenv("TARGET_TONE", raising=False)
    (tmp_path / ".env").write_text("TARGET_TONE=kind\n")
    file = read_langgraph_json(repository(tmp_path, {"a": "./reads.py:graph"}, env=".env"))
    before = Path.cwd()

    with environment_of(file, replay=True):
        load_graph(file, "a")
        assert os.environ["TARGET_TONE"] == "kind"
        assert os.environ["OPENAI_API_KEY"] == PLACEHOLDER
        assert os.environ["ANTHROPIC_API_KEY"] == "own"
    with environment_of(file, replay=False):
        assert "OPENAI_API_KEY" not in os.environ

    assert Path.cwd() == before
    assert "TARGET_TONE" not in os.environ


def test_a_graph_in_a_source_folder_is_imported_as_an_installation_would(tmp_path: Path) -> None:
    repository(tmp_path, {"team": "./src/helpers/graph.py:graph"}, dependencies=["."])
    (tmp_path / "src" / "helpers").mkdir()  # no __init__.py
    (tmp_path / "src" / "helpers" / "graph.py").write_text(GRAPH.format(words="helpers.greeting"))
    (tmp_path / "src" / "helpers" / "greeting.py").write_text("def greet():\n    return 'hello'\n")

    assert load_graph(read_langgraph_json(tmp_path), "team").invoke({}) == {"said": "hello"}


def test_credentials_of_an_example_environment_get_placeholders_in_a_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "mine")
    file = read_langgraph_json(repository(tmp_path, {"agent": "./loose.py:graph"}))
    names = "TAVILY_API_KEY=...\n# GEMINI_API_KEY=\nOTHER_API_KEY=\nLANGSMITH_API_KEY=...\nMODEL=small\n"
    (tmp_path / ".env.example").write_text(names)
    with environment_of(file, replay=True):
        found = {name: os.environ.get(name) for name in ("TAVILY_API_KEY", "GEMINI_API_KEY", "OTHER_API_KEY", "MODEL")}
    with environment_of(file, replay=False):
        live = os.environ.get("TAVILY_API_KEY")

    placeholders = {"TAVILY_API_KEY": PLACEHOLDER, "GEMINI_API_KEY": PLACEHOLDER}
    assert found == {**placeholders, "OTHER_API_KEY": "mine", "MODEL": None}
    assert live is None


def test_a_package_that_is_missing_is_to_be_installed(tmp_path: Path) -> None:
    file = read_langgraph_json(repository(tmp_path, {"agent": "./broken.py:graph"}))
    with pytest.raises(ConfigurationError, match=r"broken.py:3: .*no_such_package.*; install what the project needs"):
        load_graph(file, "agent")

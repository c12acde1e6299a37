"""LangGraph's own tools find the graph through langgraph.json."""

import importlib.util
import json
from pathlib import Path

from triage.state import WORKERS

ROOT = Path(__file__).parents[2]


async def test_the_file_names_a_function_that_builds_the_graph(monkeypatch):
    monkeypatch.setenv("TRIAGE_BASE_URL", "http://llm.invalid/v1")
    monkeypatch.delenv("TRIAGE_REPO", raising=False)
    path, _, function = json.loads((ROOT / "langgraph.json").read_text())["graphs"]["triage"].partition(":")
    spec = importlib.util.spec_from_file_location("studio", ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    assert set(WORKERS) < set((await getattr(module, function)()).get_graph().nodes)

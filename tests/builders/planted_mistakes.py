"""A project whose router errs at a known decision: four workers in a row, and a model that is told when to err."""

import json
from itertools import pairwise
from pathlib import Path

from tests.builders.dataset import write

ROW = ("look", "check", "weigh", "reply")
DETOUR = "shout"
GRAPH = """
from typing import Literal, TypedDict

from langchain.chat_models import init_chat_model
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

NODES = ("look", "check", "weigh", "reply", "shout")
model = init_chat_model("openai:gpt-5-nano", temperature=0)


class State(TypedDict, total=False):
    task: str
    done: list[str]
    following: str


def ask(state):
    done = state.get("done", [])
    return model.invoke(f"task {state['task']}; done: {' '.join(done)}; what is next?").content


def worker(name):
    return lambda state: {"done": [*state.get("done", []), name]}


def make(config):
    graph = StateGraph(State)
    for name in NODES:
        graph.add_node(name, worker(name))
        graph.add_edge(name, "router")
    graph.add_edge(START, "router")
    if config["configurable"]["kind"] == "command":

        def router(state) -> Command[Literal["look", "check", "weigh", "reply", "shout", "__end__"]]:
            return Command(goto=ask(state))
    else:

        def router(state):
            return {"following": ask(state)}

        graph.add_conditional_edges("router", lambda state: state["following"], [*NODES, END])
    graph.add_node("router", router)
    return graph.compile()
"""
MISTAKES = [
    *((place, "detour") for place in (1, 2, 3, 4)),
    *((place, "skip") for place in (1, 2, 3)),
    *((place, "again") for place in (2, 3, 4)),
    *((place, "end") for place in (2, 3, 4)),
]
"""(decision counted from 1, what is chosen there in place of the next worker)."""


def a_project(folder: Path, kinds: tuple[str, ...] = ("edge", "command")) -> Path:
    """The project with one case per planted mistake, and one without any; labels say the right row."""
    write(folder / "chain.py", GRAPH)
    write(folder / "langgraph.json", json.dumps({"graphs": {"chain": "./chain.py:make"}, "dependencies": ["."]}))
    write(folder / "evals.toml", '[target]\ngraph = "chain"\nrouters = ["router"]\noutput = ["done"]\n')
    rules = [{"id": f"{name}-once", "type": "existence", "a": [name], "min": 1, "max": 1, "hard": True} for name in ROW]
    rules += [
        {"id": f"{before}-first", "type": "precedence", "a": [before], "b": [after], "hard": True}
        for before, after in pairwise(ROW)
    ]
    rules.append({"id": "no-shout", "type": "absence", "a": [DETOUR], "hard": True})
    for place, kind in [(0, "none"), *MISTAKES]:
        case = {"inputs": {"task": f"{kind}@{place}"}, "route": {"constraints": rules}}
        write(folder / "evaluation" / "cases" / f"{kind}-{place}.yaml", json.dumps(case))
    variants = [{"name": kind, "config": {"kind": kind}} for kind in kinds]
    suite = {"variants": variants, "candidate": kinds[0], "reference": kinds[-1]}
    write(folder / "evaluation" / "suites" / "row.yaml", json.dumps(suite))
    return folder


def err(texts: str, _body: object) -> str:
    """What the router is answered: the next worker of the row, but for the mistake that the task names."""
    task, _, said = texts.partition("task ")[2].partition("; done: ")
    kind, _, place = task.partition("@")
    done = said.partition(";")[0].split()
    left = [name for name in ROW if name not in done]
    if len(done) + 1 != int(place):
        return left[0] if left else "__end__"
    wrong = {"detour": DETOUR, "skip": left[1:2], "again": done[-1:], "end": "__end__"}[kind]
    return wrong if isinstance(wrong, str) else wrong[0]

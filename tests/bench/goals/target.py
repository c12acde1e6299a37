"""Trials of any target with ten calls of a model each, beside as many calls of the triage graph's own replay."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, TypedDict

from langchain_openai import ChatOpenAI
from langgraph.graph import StateGraph

from evals.cassettes.calls_and_misses import Ledger
from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape
from evals.suites.suite_files import read_suite, select
from evals.target.drive import TargetCall
from evals.target.http_capture import TargetTrial
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.load_cases import load_cases
from evals.triage.recorded_graph import indexed
from evals.triage.trial_clients import replay_clients
from evals.workspace import Workspace
from tests.bench.line import Line
from tests.bench.trials import CALLS, took
from tests.builders.model_server import model_server
from tests.builders.target_session import Session, target_session

TRIALS, ROUNDS, GOAL = 200, 10, 1.3


def lines(folder: Path) -> Iterator[Line]:
    """Processor time per trial; the rounds of both alternate."""
    folder.mkdir(parents=True, exist_ok=True)
    triage = TriageTrial()
    with target_session(folder) as session:
        with model_server(lambda *_: "good day") as (url, _):
            call = TargetCall(ten_calls(f"{url}/v1"), {"said": "hello"})
            assert asyncio.run(session.record(call)).error is None
        pairs = [(replayed(session, call), triage.seconds()) for _ in range(ROUNDS + 1)][1:]
    ratio = median(ours / theirs for ours, theirs in pairs)
    ours, theirs = (1000 * median(pair[place] for pair in pairs) for place in (0, 1))
    measured = f"{ratio:.2f} ({ours:.0f} ms; triage {theirs:.0f} ms)"
    yield Line(f"{TRIALS} trials of a target, {CALLS} calls each / triage's", f"≤ {GOAL}", measured, ratio <= GOAL)


class State(TypedDict):
    """The last answer."""

    said: str


def ten_calls(url: str) -> Any:
    """A graph of ten nodes that ask a model, as the examples in the documentation of LangGraph do."""
    model = ChatOpenAI(model="small", base_url=url, api_key="none")
    builder = StateGraph(State)
    names = [f"step_{number}" for number in range(CALLS)]
    for name in names:
        builder.add_node(name, asking(model, name))
    for one, following in zip(["__start__", *names], [*names, "__end__"], strict=True):
        builder.add_edge(one, following)
    return builder.compile()


def asking(model: ChatOpenAI, name: str) -> Any:
    """A node."""

    async def node(state: State) -> State:
        answer = await model.ainvoke([("system", f"You are {name}. " * 20), ("user", state["said"])])
        return {"said": str(answer.content)}

    return node


def replayed(session: Session, call: TargetCall) -> float:
    """Seconds of one of so many trials. The cassette is read before, as it is for triage's: a run reads it once."""
    cassette = load(session.path)

    async def run() -> float:
        started = time.process_time()
        for _ in range(TRIALS // ROUNDS):
            assert (await session.driver.run(call, TargetTrial(Tape(cassette)))).ended == "finished"
        return (time.process_time() - started) / (TRIALS // ROUNDS)

    return asyncio.run(run())


class TriageTrial:
    """The first recorded case of the suite `prompts`."""

    def __init__(self) -> None:
        workspace, suite = Workspace.at(Path()), read_suite("prompts")
        self.case = select(load_cases(workspace.datasets), suite.cases)[0]
        self.variant = suite.variants[-1]
        self.cassette = load(workspace.cassette(self.case.id))
        self.code = indexed(materialise(self.case, workspace.datasets, workspace.cache), workspace.vectors)

    def seconds(self) -> float:
        """Of so many calls of a trial."""
        tapes = [Tape(self.cassette, Ledger()) for _ in range(TRIALS // ROUNDS // 2)]
        spent = [took(self.case, self.variant, self.code, tape, replay_clients) for tape in tapes]
        assert not tapes[0].ledger.misses
        return median(spent) / len(tapes[0].ledger.served) * CALLS

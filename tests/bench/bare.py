"""The graph by itself, on the cases of a generated checkout: one process, the OpenAI SDK, a transport that hands out
the recorded answers in order. `bare` runs one trial after the other, `peer` lets pydantic-evals run them."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import httpx
import httpx2

from evals.cassettes.cassette_data import Interaction
from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape
from evals.models.case import Case
from evals.suites.suite_files import read_suite
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.load_cases import load_cases
from evals.triage.graph_trial import CaseTarget, IndexedCode, watched
from evals.triage.recorded_graph import indexed
from evals.triage.trial_clients import Clients, replay_clients
from evals.triage.variant_graph import Team, searching, team_of
from evals.workspace import Workspace
from tests.bench.in_order import InOrder
from triage.graph import DURABILITY
from triage.state import BugTriageState

answers: ContextVar[Iterator[Interaction]] = ContextVar("answers")
Trial = Callable[[], Awaitable[bool]]


def trials(checkout: Path) -> list[Trial]:
    """Every case under every variant. All cases are copies of the first, so its answers are everybody's."""
    place, suite = Workspace.at(checkout), read_suite(str(checkout / "many.yaml"))
    cases = [case for case in load_cases(place.datasets).values() if "made" in case.labels.tags]
    repository = indexed(materialise(cases[0], place.datasets, place.cache), place.vectors)
    clients, cassette = _constant(), load(place.cassette(cases[0].id))
    made = []
    for variant in suite.variants:
        tape, team = Tape(cassette), team_of(variant, clients)
        asyncio.run(watched(CaseTarget.of(variant, replay_clients(), repository), cases[0], tape))
        made += [_trial(team, case, list(tape.ledger.served), repository) for case in cases]
    return made


def _constant() -> Clients:
    transport = InOrder(lambda: next(answers.get()))
    return Clients(
        openai=httpx2.Client(transport=transport, trust_env=False),
        openai_async=httpx2.AsyncClient(transport=transport, trust_env=False),
        tavily_async=httpx.AsyncClient(transport=transport, trust_env=False),
    )


def _trial(team: Team, case: Case, served: list[Interaction], repository: IndexedCode) -> Trial:
    graph: Any = team.graph

    async def trial() -> bool:
        answers.set(iter(served))
        state = BugTriageState(
            job_id=case.id,
            issue_title=case.title,
            issue_body=case.body,
            issue_url=case.url,
            repository=case.repository,
        )
        thread = f"{case.id} {id(served)}"
        with searching(repository.index):
            ended = await graph.ainvoke(state, {"configurable": {"thread_id": thread}}, durability=DURABILITY)
        team.forget(thread)
        return bool(ended.get("report"))

    return trial


async def one_by_one(made: list[Trial]) -> int:
    """How many came to a report."""
    return sum([await trial() for trial in made])


async def under_the_peer(made: list[Trial]) -> int:
    """As its documentation has it: a data set of cases, a task, one evaluator."""
    from pydantic_evals import Case as PeersCase
    from pydantic_evals import Dataset
    from pydantic_evals.evaluators import EqualsExpected

    async def task(number: int) -> bool:
        return await made[number]()

    cases = [PeersCase(name=str(number), inputs=number, expected_output=True) for number in range(len(made))]
    dataset = Dataset(name="bare", cases=cases, evaluators=[EqualsExpected()])
    # one by one: side by side the writer's three requests overtake each other, and gain nothing on one processor
    report = await dataset.evaluate(task, progress=False, max_concurrency=1)
    return sum(all(found.value for found in case.assertions.values()) for case in report.cases)


if __name__ == "__main__":
    how = {"bare": one_by_one, "peer": under_the_peer}[sys.argv[1]]
    print(json.dumps({"reports": asyncio.run(how(trials(Path(sys.argv[2]))))}))

"""What one replayed trial costs, on the committed cassettes of a suite: part `trials`.

The floor is the same graph with the same SDK over a transport that hands out the recorded answers in the order they
were asked for, without looking at the request. What the plain path adds to it (canonical key, look-up, ledger) is one
ratio, what the short path spares is the other. Processor time, so that a busy machine changes little.
"""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import httpx
import httpx2

from evals.cassettes.calls_and_misses import Ledger
from evals.cassettes.cassette_data import Interaction
from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape
from evals.models.case import Case
from evals.models.suite import Variant
from evals.shortcut_switch import SWITCH
from evals.suites.suite_files import read_suite, select
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.load_cases import load_cases
from evals.triage.graph_trial import CaseTarget, IndexedCode, run_trial
from evals.triage.recorded_graph import indexed
from evals.triage.trial_clients import Clients, replay_clients
from evals.workspace import Workspace
from tests.bench.in_order import InOrder

ROUNDS = 3
CALLS = 10
"""Requests of the trial that a rate is given for: those of the committed cassettes make some thirty."""
LIMIT = 1.15
GOAL = 60


def in_order(served: Sequence[Interaction]) -> Clients:
    following = iter(served)
    transport = InOrder(lambda: next(following))
    return Clients(
        openai=httpx2.Client(transport=transport, trust_env=False),
        openai_async=httpx2.AsyncClient(transport=transport, trust_env=False),
        tavily_async=httpx.AsyncClient(transport=transport, trust_env=False),
    )


def took(case: Case, variant: Variant, repository: IndexedCode, tape: Tape, make: Callable[[], Clients]) -> float:
    """Seconds of processor time of one trial, from its clients to its trace."""

    async def run() -> float:
        started = time.process_time()
        await run_trial(CaseTarget.of(variant, make(), repository), case, tape)
        return time.process_time() - started

    return asyncio.run(run())


def plain_clients() -> Clients:
    os.environ[SWITCH] = "1"
    try:
        return replay_clients()
    finally:
        del os.environ[SWITCH]


def main(suite_name: str) -> int:
    workspace, suite = Workspace.at(Path()), read_suite(suite_name)
    spent = {"floor": 0.0, "plain": 0.0, "short": 0.0}
    requests, trials = 0, 0
    for case in select(load_cases(workspace.datasets), suite.cases):
        cassette = load(workspace.cassette(case.id))
        repository = indexed(materialise(case, workspace.datasets, workspace.cache), workspace.vectors)
        for variant in suite.variants:
            tape = Tape(cassette, Ledger())
            took(case, variant, repository, tape, replay_clients)  # once: imports, the index, the team
            if tape.ledger.misses:
                continue
            ways = {
                "floor": partial(in_order, list(tape.ledger.served)),
                "plain": plain_clients,
                "short": replay_clients,
            }
            for name, make in ways.items():
                rounds = [took(case, variant, repository, Tape(cassette, Ledger()), make) for _ in range(ROUNDS)]
                spent[name] += median(rounds)
            trials, requests = trials + 1, requests + len(tape.ledger.served)
    if not trials:
        print("bench: nothing of this suite is on tape")
        return 1
    rate = requests / spent["short"] / CALLS
    print(f"trials: {trials} of {requests / trials:.0f} requests; median of {ROUNDS}, processor time")
    print(f"  plain replay / same graph over answers in order: {spent['plain'] / spent['floor']:.2f} (limit {LIMIT})")
    print(f"  short replay / same graph over answers in order: {spent['short'] / spent['floor']:.2f}")
    print(f"  plain / short: {spent['plain'] / spent['short']:.2f}")
    for name in ("plain", "short"):
        print(f"  {name}: {requests / spent[name] / CALLS:.1f} trials of {CALLS} requests/s and core")
    print(f"  goal: {GOAL} trials/s and core: {'met' if rate >= GOAL else 'not met here'}")
    return int(spent["plain"] / spent["floor"] > LIMIT)

"""What replay costs, as ratios within one run: `make bench`.

The floor is the same graph with the same SDK over a transport that hands out the recorded answers in the order they
were asked for, without looking at the request. What replay adds (canonical key, look-up, ledger) is the ratio to it.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import httpx
import httpx2

from evals.cassette.ledger import Ledger
from evals.cassette.player import Tape
from evals.cassette.store import Cassette, Interaction, load
from evals.dataset.codebase import materialise
from evals.dataset.load import load_cases
from evals.models.case import Case
from evals.models.suite import Variant
from evals.subject.clients import Clients, replay_clients
from evals.subject.trial import Repository, Subject, run_trial
from evals.suites.load import load_suite, select
from evals.workspace import Workspace

ROUNDS = 3
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "evals --help": ["-m", "evals", "--help"],
    "import of a worker process": ["-c", "import evals.runner.replay"],
}


class InOrder(httpx2.BaseTransport, httpx2.AsyncBaseTransport, httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers with the next recorded body, whatever is asked."""

    def __init__(self, answers: Iterator[Interaction]) -> None:
        self._answers = answers

    async def handle_async_request(self, request):
        response = httpx2.Response if isinstance(request, httpx2.Request) else httpx.Response
        return response(200, headers={"content-type": "application/json"}, content=next(self._answers).body)


def in_order(served: Sequence[Interaction]) -> Clients:
    transport = InOrder(iter(served))
    return Clients(
        openai=httpx2.Client(transport=transport, trust_env=False),
        openai_async=httpx2.AsyncClient(transport=transport, trust_env=False),
        tavily_async=httpx.AsyncClient(transport=transport, trust_env=False),
    )


def trial(
    case: Case, variant: Variant, repository: Repository, tape: Tape, make_clients: Callable[[], Clients]
) -> float:
    """Seconds of one trial."""

    async def run() -> float:
        clients = make_clients()
        started = time.perf_counter()
        await run_trial(Subject.of(variant, clients, repository), case, tape)
        return time.perf_counter() - started

    return asyncio.run(run())


def measure_replay(workspace: Workspace, suite_name: str) -> None:
    suite = load_suite(suite_name)
    cases = select(load_cases(workspace.datasets), suite.cases)
    replay, floor, calls, trials = 0.0, 0.0, 0, 0
    for case in cases:
        cassette = load(workspace.cassette(case.id))
        repository = Repository.at(materialise(case, workspace.datasets, workspace.cache), workspace.vectors)
        for variant in suite.variants:
            tape = warm(case, variant, repository, cassette)
            if tape.ledger.misses:
                continue
            served = list(tape.ledger.served)
            for _ in range(ROUNDS):
                replay += trial(case, variant, repository, Tape(cassette, Ledger()), replay_clients)
                floor += trial(case, variant, repository, Tape(cassette, Ledger()), partial(in_order, served))
                trials, calls = trials + 1, calls + len(served)
    if not trials:
        sys.exit("bench: nothing of this suite is on tape")
    print(f"replay: {trials / replay:.1f} trials/s in one process, {calls / trials:.0f} requests a trial")
    print(f"replay / same graph over answers in order: {replay / floor:.2f}")


def warm(case: Case, variant: Variant, repository: Repository, cassette: Cassette) -> Tape:
    """Run once: imports, index and models are built, and the tape knows what is served."""
    tape = Tape(cassette, Ledger())
    trial(case, variant, repository, tape, replay_clients)
    return tape


def measure_starts() -> None:
    base = 0.0
    for name, arguments in COMMANDS.items():
        times = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=os.environ)
            times.append(time.perf_counter() - started)
        base = base or min(times)
        print(f"start: {name}: {min(times):.2f} s, {min(times) / base:.1f} x bare Python")


def measure_runs(suite: str) -> None:
    seconds = {}
    for name, flags in (("fresh", ["--fresh"]), ("unchanged", [])):
        started = time.perf_counter()
        command = [sys.executable, "-m", "evals", "run", suite, *flags, "--out", ".cache/bench"]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        seconds[name] = time.perf_counter() - started
    print(f"evals run {suite}: fresh {seconds['fresh']:.1f} s, unchanged {seconds['unchanged']:.1f} s")
    print(f"fresh / unchanged: {seconds['fresh'] / seconds['unchanged']:.1f}")


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "starter"
    measure_starts()
    measure_runs(name)
    measure_replay(Workspace.at(Path()), name)

"""A trial recorded from a scripted team, ready to be replayed."""

from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import httpx2

from evals.cassettes.calls_and_misses import Ledger
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.player import Tape
from evals.cassettes.recorder import HttpxRecordingTransport, RecordingTransport
from evals.models.case import Case
from evals.models.suite import Variant
from evals.models.trace import Trace
from evals.triage.graph_trial import CaseTarget, IndexedCode, run_trial
from evals.triage.trial_clients import Clients
from tests.builders.endpoint import Endpoint, a_team
from tests.builders.interaction import a_recorder
from tests.builders.repository import HashEmbedder
from triage.codebase.index import CodebaseIndex

ROUTE = ("investigator", "codebase_search", "critic", "writer")


async def recorded_trial(
    variant: Variant, index: CodebaseIndex, case: Case, team: Endpoint | None = None
) -> tuple[Case, Trace, list[Interaction]]:
    """The case, the trace of its trial, and the answers it took. Without a `team` the supervisor takes `ROUTE`."""
    recorder = a_recorder()
    nothing = httpx.MockTransport(lambda _: httpx.Response(200, json={"query": "", "results": []}))
    asked = httpx2.MockTransport(team or a_team(*ROUTE))
    clients = Clients(
        httpx2.Client(transport=asked),
        httpx2.AsyncClient(transport=RecordingTransport(recorder, asked)),
        httpx.AsyncClient(transport=HttpxRecordingTransport(recorder, nothing)),
    )
    subject = CaseTarget.of(variant, clients, IndexedCode(index, HashEmbedder()))  # type: ignore[arg-type]
    with TemporaryDirectory() as folder:  # the recorder stages its answers beside the tape
        tape = Tape(Cassette(Path(folder) / "case.yaml", []), Ledger())
        trace = await run_trial(subject, case, tape)
    await clients.close()
    return case, trace, list({found.key: found for found in tape.ledger.served}.values())

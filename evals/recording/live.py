"""Recording a suite: run every trial with the tape first and the endpoint for what the tape lacks, then prove it.

What is recorded waits in a staging cassette below `.cache/` and enters `cassettes/` only after its trial has been
replayed offline to the very same trace. A kill at any moment loses the request in flight; the next run takes up the
staged answers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import httpx2

from evals.cassette.ledger import Ledger
from evals.cassette.player import ReplayTransport, Tape
from evals.cassette.recorder import HttpxRecordingTransport, Recorder, RecordingTransport
from evals.cassette.store import Cassette, Interaction, load, merge_write
from evals.errors import RecordingError, UnansweredError
from evals.models.case import Case
from evals.models.suite import Variant
from evals.models.trace import Trace
from evals.recording.wire import Endpoint, TavilyWire, case_being_recorded
from evals.subject.clients import Clients, replay_clients
from evals.subject.trial import Subject, run_trial
from evals.workspace import Workspace

SubjectOf = Callable[[Variant, Clients], Subject]
"""The variant on the case's repository, over the given clients."""


@dataclass(frozen=True)
class Recorded:
    """What recording one trial gave."""

    trace: Trace
    asked: int
    reused: int


class Session:
    """Records trials one after the other; one event loop, one wire to whoever answers, one search server."""

    def __init__(
        self,
        workspace: Workspace,
        recorder: Recorder,
        llm: httpx2.AsyncBaseTransport,
        search: Endpoint,
        timeout_s: float,
    ) -> None:
        self._workspace = workspace
        self._recorder = recorder
        self._clients = Clients(
            openai=httpx2.Client(transport=ReplayTransport(), trust_env=False),
            openai_async=httpx2.AsyncClient(
                transport=RecordingTransport(recorder, llm), trust_env=False, timeout=timeout_s
            ),
            tavily_async=httpx.AsyncClient(
                transport=HttpxRecordingTransport(recorder, TavilyWire(search)), trust_env=False, timeout=timeout_s
            ),
        )

    async def record(self, case: Case, variant: Variant, sample: int, subject_of: SubjectOf) -> Recorded:
        """Record what one trial lacks, prove that it replays, and move it into the committed cassette.

        Raises:
            RecordingError: the endpoint failed, or the replay differs; what was answered stays staged.
            CassetteError: a cassette cannot be trusted or a secret was about to be written.
        """
        staging = staging_of(self._workspace, case.id)
        committed = load(self._workspace.cassette(case.id))
        staged = load(staging)
        known = {(found.key, found.sample) for found in (*committed.interactions, *staged.interactions)}
        ledger = Ledger()
        tape = Tape(Cassette(staging, staged.union(committed.interactions).interactions), ledger, sample)
        case_being_recorded.set(case.id)
        trace = await run_trial(
            subject_of(variant, self._clients), case, tape, halted=lambda: bool(self._recorder.failures)
        )
        if self._recorder.failures:
            failure = self._recorder.failures[0]
            self._recorder.failures.clear()  # the next trial starts with a clean slate
            raise failure
        if trace.provenance.label == "failed":
            raise RecordingError(f"the graph fails with these answers ({trace.error}); they are kept, but not accepted")
        if trace.misses or trace.point_misses:
            agent = (*trace.misses, *trace.point_misses)[0].agent
            raise UnansweredError(f"a request by {agent} went past the recording client; nothing was accepted")
        served = _distinct(ledger)
        await prove(case, variant, sample, subject_of, Cassette(staging, served), trace)
        merge_write(self._workspace.cassette(case.id), served)
        fresh = [found for found in served if (found.key, found.sample) not in known]
        return Recorded(trace, asked=len(fresh), reused=len(served) - len(fresh))

    async def close(self) -> None:
        """Close the connections."""
        await self._clients.close()


async def prove(
    case: Case, variant: Variant, sample: int, subject_of: SubjectOf, cassette: Cassette, recorded: Trace
) -> None:
    """The replay proof: offline, from these interactions alone, the trial gives the same trace again.

    Raises:
        RecordingError: it does not.
    """
    clients = replay_clients()
    replayed = await run_trial(subject_of(variant, clients), case, Tape(cassette, Ledger(), sample))
    await clients.close()
    if replayed != recorded:
        raise RecordingError(
            f"{case.id} under {variant.name} does not replay: {difference(recorded, replayed)}. Nothing of this trial "
            "was accepted; something in the graph depends on time, chance or order"
        )


def difference(recorded: Trace, replayed: Trace) -> str:
    """The first field in which two traces part."""
    if replayed.misses:
        return f"a request by {replayed.misses[0].agent} is not on the tape"
    if recorded.route != replayed.route:
        return f"route {' '.join(recorded.route)} became {' '.join(replayed.route)}"
    fields = [name for name in Trace.model_fields if getattr(recorded, name) != getattr(replayed, name)]
    return f"{', '.join(fields)} differ"


def _distinct(ledger: Ledger) -> list[Interaction]:
    return list({(found.key, found.sample): found for found in ledger.served}.values())


def discard_staging(workspace: Workspace, case_id: str) -> None:
    """Drop a case's staged answers once all are accepted; those another variant still waits for are paid for."""
    path = staging_of(workspace, case_id)
    accepted = {(found.key, found.sample) for found in load(workspace.cassette(case_id)).interactions}
    if all((found.key, found.sample) in accepted for found in load(path).interactions):
        path.unlink(missing_ok=True)


def staging_of(workspace: Workspace, case_id: str) -> Path:
    """Where a case's answers wait for their proof."""
    return workspace.cache / "recording" / f"{case_id}.yaml"

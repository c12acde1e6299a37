"""Recording a suite: run every trial with the tape first and the endpoint for what the tape lacks, then prove it.

What is recorded waits in a staging cassette below `.cache/` and enters `cassettes/` only after its trial has been
replayed offline to the very same trace. A kill at any moment loses the requests in flight; the next run takes up the
staged answers. A refresh asks again for what is there: its answers wait in a staging of their own, and replace the old
ones only when every trial of the case is proven.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import httpx2

from evals.cassette import arrived, manifest
from evals.cassette.ledger import Ledger
from evals.cassette.player import ReplayTransport, Tape
from evals.cassette.readings import FOLDER, Readings
from evals.cassette.recorder import Recorder
from evals.cassette.recording_transport import HttpxRecordingTransport, RecordingTransport
from evals.cassette.store import Cassette, Interaction, discard, load, merge_write
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
    """What recording one trial gave. `asked` answers were not on tape when it began; trials side by side share some."""

    trace: Trace
    asked: int
    reused: int


class Session:
    """Records trials, side by side if asked to; one event loop, one wire to whoever answers, one search server."""

    def __init__(
        self,
        workspace: Workspace,
        recorder: Recorder,
        llm: httpx2.AsyncBaseTransport,
        search: Endpoint,
        timeout_s: float,
        *,
        samples: int = 1,
        refresh: bool = False,
    ) -> None:
        self._workspace = workspace
        self._recorder = recorder
        self._samples = samples
        self._refresh = refresh
        self._fresh: dict[str, list[Interaction]] = {}  # a refreshed case's proven answers, before they replace others
        self._trees: dict[str, str | None] = {}
        self._clients = Clients(
            openai=httpx2.Client(transport=ReplayTransport(), trust_env=False),
            openai_async=httpx2.AsyncClient(
                transport=RecordingTransport(recorder, llm), trust_env=False, timeout=timeout_s
            ),
            tavily_async=httpx.AsyncClient(
                transport=HttpxRecordingTransport(recorder, TavilyWire(search)), trust_env=False, timeout=timeout_s
            ),
            teams={},
        )

    async def record(self, case: Case, variant: Variant, sample: int, subject_of: SubjectOf) -> Recorded:
        """Record what one trial lacks, prove that it replays, and move it into the committed cassette.

        Raises:
            RecordingError: the endpoint failed, or the replay differs; what was answered stays staged.
            CassetteError: a cassette cannot be trusted or a secret was about to be written.
        """
        staging = self._staging(case.id)
        arrived.take_in(staging)
        committed = load(self._workspace.cassette(case.id), Readings(self._workspace.cache / FOLDER))
        known = Cassette(staging, () if self._refresh else committed.interactions, tree=case.tree)
        tape = Tape(known.union(load(staging).interactions), sample=sample, samples=self._samples)
        before = {(found.key, found.sample) for found in tape.cassette.interactions}
        case_being_recorded.set(case.id)
        failures = tape.ledger.failures
        trace = await run_trial(subject_of(variant, self._clients), case, tape, halted=lambda: bool(failures))
        if failures:
            raise failures[0]
        if trace.provenance.label == "failed":
            raise RecordingError(f"the graph fails with these answers ({trace.error}); they are kept, but not accepted")
        if trace.misses or trace.point_misses:
            agent = (*trace.misses, *trace.point_misses)[0].agent
            raise UnansweredError(f"a request by {agent} went past the recording client; nothing was accepted")
        served = distinct(tape.ledger)
        await prove(case, variant, sample, subject_of, Cassette(staging, served), trace, samples=self._samples)
        if self._refresh:
            self._fresh.setdefault(case.id, []).extend(served)
            self._trees[case.id] = case.tree
        else:
            await self._accept(case.id, served, tree=case.tree)
        fresh = [found for found in served if (found.key, found.sample) not in before]
        return Recorded(trace, asked=len(fresh), reused=len(served) - len(fresh))

    async def close_case(self, case_id: str, *, whole: bool) -> None:
        """All trials of a case are over; `whole` if every one is proven. Only then old answers give way to new ones."""
        self._recorder.forget(self._staging(case_id))
        if not whole:
            return
        if self._refresh:
            await self._accept(case_id, self._fresh.pop(case_id), replace=True, tree=self._trees.pop(case_id))
        else:
            discard_staging(self._workspace, case_id)

    async def _accept(
        self, case_id: str, proven: Sequence[Interaction], *, tree: str | None, replace: bool = False
    ) -> None:
        """Move proven answers into the committed cassette. The proof is of no use where that keeps others."""
        path = self._workspace.cassette(case_id)
        merged = await asyncio.to_thread(partial(merge_write, replace=replace, tree=tree), path, proven)
        await asyncio.to_thread(manifest.enter, path)
        heard = (merged.exact(found.key, found.sample) or found for found in proven)
        if any(kept.body != found.body for kept, found in zip(heard, proven, strict=True)):
            raise RecordingError(
                f"another answer to a request of {case_id} came into {path.name} meanwhile, and stays; run it again"
            )

    def _staging(self, case_id: str) -> Path:
        return _refreshed(self._workspace, case_id) if self._refresh else staging_of(self._workspace, case_id)

    async def close(self) -> None:
        """Close the connections."""
        await self._clients.close()


async def prove(
    case: Case,
    variant: Variant,
    sample: int,
    subject_of: SubjectOf,
    cassette: Cassette,
    recorded: Trace,
    *,
    samples: int = 1,
) -> None:
    """The replay proof: offline, from these interactions alone, the trial gives the same trace again.

    Raises:
        RecordingError: it does not.
    """
    clients = replay_clients()
    replayed = await run_trial(subject_of(variant, clients), case, Tape(cassette, sample=sample, samples=samples))
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
    if recorded.walked != replayed.walked:
        return f"route {' '.join(recorded.walked)} became {' '.join(replayed.walked)}"
    fields = [name for name in Trace.model_fields if getattr(recorded, name) != getattr(replayed, name)]
    return f"{', '.join(fields)} differ"


def distinct(ledger: Ledger) -> list[Interaction]:
    """What was served, each interaction once."""
    return list({(found.key, found.sample): found for found in ledger.served}.values())


def discard_staging(workspace: Workspace, case_id: str) -> None:
    """Drop a case's staged answers once all are accepted; those another variant still waits for are paid for."""
    staging = staging_of(workspace, case_id)
    if staging.exists():
        discard(staging, load(workspace.cassette(case_id)))


def end_refresh(workspace: Workspace, case_ids: Iterable[str]) -> None:
    """Drop the staged answers of a refresh that is complete: the next one asks anew."""
    for case_id in case_ids:
        _refreshed(workspace, case_id).unlink(missing_ok=True)


def _refreshed(workspace: Workspace, case_id: str) -> Path:
    return workspace.cache / "recording" / "refresh" / f"{case_id}.yaml"


def staging_of(workspace: Workspace, case_id: str) -> Path:
    """Where a case's answers wait for their proof."""
    return workspace.cache / "recording" / f"{case_id}.yaml"

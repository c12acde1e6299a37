"""Decision points harvested from recorded traffic."""

from typing import Any, Final

from evals.cassettes.interaction import Cassette
from evals.cassettes.player import Tape
from evals.cassettes.trace_calls import Ledger
from evals.models.case import Case
from evals.models.suite import Variant
from evals.triage.fast_replay import runner
from evals.triage.graph_trial import CaseTarget, IndexedCode, watched
from evals.triage.trial_clients import replay_clients

# of the issue, of the code it stands in, of an answer given, or of no matter to the next one
LEFT_OUT: Final = frozenset(
    {
        "job_id",
        "schema_version",
        "issue_title",
        "issue_body",
        "issue_url",
        "issue_discussion",
        "repository",
        "codebase_evidence",
    }
    | {"next_node", "routed_node", "vetoes", "supervisor_reasoning", "forced_fallback", "corrections"}
    | {"error_messages"}
)


def harvest(case: Case, variant: Variant, cassette: Cassette, repository: IndexedCode) -> list[dict[str, Any]]:
    """The state before each decision of the replayed trial, as fields of `triage.state.BugTriageState`.

    As far as the tape reaches: a decision nobody recorded has no state. Fields at their default are left out.
    """
    with runner() as loop:
        return loop.run(_harvest(case, variant, cassette, repository))


async def _harvest(case: Case, variant: Variant, cassette: Cassette, repository: IndexedCode) -> list[dict[str, Any]]:
    clients = replay_clients()
    try:
        watcher = await watched(CaseTarget.of(variant, clients, repository), case, Tape(cassette, Ledger()))
    finally:
        await clients.close()
    return [state.model_dump(mode="json", exclude=set(LEFT_OUT), exclude_defaults=True) for state in watcher.asked]

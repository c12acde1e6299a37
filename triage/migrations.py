"""Bringing the stored state of a job up to the current schema, one version at a time.

Schema 1 is the state of PRD-003 as first written: no visits, no routed node, no vetoes, and iterations that left out
some visits. Schema 2 is the job of one visit at a time. Schema 3 adds plans, retries and telemetry, which a job begun
without them does not have. Schema 4 adds what searches have read. Schema 5 adds what a writer that failed had finished.
Schema 6 is `triage.state`: it adds the error lines that the investigator quoted. Prompts are in no schema: a new
version needs nothing here.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from triage.errors import CheckpointError
from triage.state import CURRENT_SCHEMA_VERSION

Plain = dict[str, Any]


def migrate(raw: Mapping[str, Any]) -> Plain:
    """The state `raw` (plain JSON-like data, any schema up to the current one) as the current schema has it.

    Raises:
        CheckpointError: it was written by a newer triage, or names no schema that ever was.
    """
    state = dict(raw)
    version = state.get("schema_version", 1)
    if isinstance(version, int) and version > CURRENT_SCHEMA_VERSION:
        raise CheckpointError(
            f"the job was stored with schema {version} and this triage reads up to {CURRENT_SCHEMA_VERSION}: "
            "upgrade triage, or start the job anew"
        )
    while version != CURRENT_SCHEMA_VERSION:
        if version not in MIGRATIONS:
            raise CheckpointError(f"the job was stored with schema {version!r}, which never was: start the job anew")
        state = MIGRATIONS[version](state)
        version = state["schema_version"]
    return state


def _from_1(state: Plain) -> Plain:
    """Visits are read off the findings and answers (their mutual order is lost, failed visits are unknown)."""
    kept = {name: value for name, value in state.items() if name != "current_node"}
    findings, answers = kept.get("findings", []), kept.get("human_exchanges", [])
    visits = [finding["agent_name"] for finding in findings] + ["human_input"] * len(answers)
    kept |= {
        "schema_version": 2,
        "visits": visits,
        "iterations": max(kept.get("iterations", 0), len(visits)),
        "routed_node": kept.get("next_node"),
    }
    if kept.get("critic_feedback"):
        kept["critic_feedback"] = kept["critic_feedback"] | {"evidence_seen": _seen_by_critic(findings, answers)}
    return kept


def _seen_by_critic(findings: list[Plain], answers: list[Plain]) -> int:
    """Findings up to the critic's last one; answers count as seen, so that an old rejection is not lifted by guess."""
    reviews = [n for n, finding in enumerate(findings, 1) if finding["agent_name"] == "critic"]
    return (reviews[-1] if reviews else len(findings)) + len(answers)


def _from_2(state: Plain) -> Plain:
    """Nothing is lost or added: all fields of schema 3 have their defaults."""
    return state | {"schema_version": 3}


def _from_3(state: Plain) -> Plain:
    """What searches had read was not kept: the next one counts as a first, and may read it again."""
    return state | {"schema_version": 4}


def _from_4(state: Plain) -> Plain:
    """What a failed writer had finished was not kept."""
    return state | {"schema_version": 5}


def _from_5(state: Plain) -> Plain:
    """The error lines were not kept."""
    return state | {"schema_version": 6}


MIGRATIONS: Final[dict[int, Callable[[Plain], Plain]]] = {
    1: _from_1,
    2: _from_2,
    3: _from_3,
    4: _from_4,
    5: _from_5,
}

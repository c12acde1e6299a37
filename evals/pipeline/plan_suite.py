"""Plan the recording of a suite."""

from collections.abc import Sequence
from dataclasses import replace

from evals.holdout import held_out
from evals.models.trace import Trace
from evals.pipeline.load_run import Selected, record_command
from evals.prices import PriceTable
from evals.recording.plan.plan_recording import (
    Gatherer,
    MissingVariant,
    RecordingPlan,
    by_cause,
    effort_of,
    missing_variants,
)


def planned(name: str, chosen: Selected, traces: Sequence[Trace], prices: PriceTable) -> RecordingPlan:
    """The plan for what these traces lack."""
    broken = [trace.error or "failed" for trace in traces if trace.provenance.label == "failed"]
    variants = missing_variants([info.variant.name for info in chosen.variants], traces)
    everyone = [chosen.workspace.pack.describe(variant, chosen.workspace.root) for variant in chosen.suite.variants]
    gatherer = Gatherer(chosen.workspace, everyone)
    missed = gatherer.missed(traces) if variants else []
    models = {info.variant.name: info.variant.models for info in chosen.variants}
    found = RecordingPlan(
        suite=chosen.suite.name,
        trials=len(traces),
        variants=variants,
        causes=by_cause(missed),
        known=len({one.request for one in missed}),
        effort=effort_of(models, traces, gatherer.experience([case.id for case in chosen.cases]), prices)
        if variants
        else None,
        broken=tuple(dict.fromkeys(broken)),
        held_out=tuple(case.id for case in held_out(chosen.cases) if case.id in {one.request[0] for one in missed}),
        command=_command(name, chosen, variants) if variants else "",
    )
    if chosen.suite.judge is None:
        return found
    from evals.pipeline.plan_judge import with_judge  # noqa: PLC0415 - loads LangChain

    experience = gatherer.experience([case.id for case in chosen.cases])
    return with_judge(found, chosen, traces, experience, prices)


def _command(name: str, chosen: Selected, variants: tuple[MissingVariant, ...]) -> str:
    """The command that records what is missing, and no variant that lacks nothing."""
    lacking = tuple(item.variant for item in variants)
    asked = chosen.options if len(lacking) == len(chosen.suite.variants) else replace(chosen.options, variants=lacking)
    return record_command(name, asked, chosen.workspace.root)

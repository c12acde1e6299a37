"""A stored run as planned traces, one per trial: who did what, in which order, and what came of it."""

from collections.abc import Iterator, Sequence

from evals.models.run import CaseInfo, Run, Trial, VariantInfo
from evals.models.trace import Trace
from evals.otlp import names
from evals.otlp.calls import call_spans
from evals.otlp.errors import NOT_RECORDED, error_of
from evals.otlp.messages import said
from evals.otlp.planned import ROOT, Attributes, PlannedEvent, PlannedSpan, PlannedTrace, known
from evals.otlp.scores import score_attributes, score_events
from evals.otlp.steps import steps_of
from evals.otlp.tapes import Tapes
from evals.otlp.telling import Telling, times_of
from evals.otlp.turns import turn_spans

WORKFLOW = "triage"


def planned_traces(run: Run, trials: Sequence[Trial], tapes: Tapes | None = None) -> Iterator[PlannedTrace]:
    """A trace for each of these trials of the run. With `tapes`, contents too: messages, findings, reports, reasons.

    Raises:
        CassetteError: contents are wanted, and a cassette cannot be trusted.
    """
    digest = run.content_sha256 or run.sealed().content_sha256
    resource = _resource(run, digest)
    cases = {case.id: case for case in run.cases}
    variants = {info.variant.name: info for info in run.variants}
    for trial in trials:
        trace = trial.trace
        case, info = cases[trace.case_id], variants[trace.variant]
        name = f"{run.suite}/{trace.case_id}/{trace.variant}/{trace.sample}@{digest[:12]}"
        telling = Telling(trace, info.variant.models, times_of(trace), name, tapes)
        spans = _spans(trace, info.variant.supervisor, telling)
        root = _root(run, trial, case, info, telling, max((span.end for span in spans), default=telling.nothing))
        identity = (digest, trace.case_id, trace.variant, str(trace.sample))
        yield PlannedTrace(identity=identity, resource=resource, spans=(root, *spans))


def _resource(run: Run, digest: str) -> Attributes:
    ours = names.OURS
    return known(
        {
            names.SERVICE: "triage-evals",
            f"{ours}.run.sha256": digest,
            f"{ours}.run.schema_version": run.schema_version,
            f"{ours}.suite": run.suite,
            f"{ours}.candidate": run.candidate,
            f"{ours}.reference": run.reference,
            f"{ours}.verdict": run.verdict.status,
            f"{ours}.recorded_by": run.recorded_by,
        }
    )


def _spans(trace: Trace, supervisor: str, telling: Telling) -> list[PlannedSpan]:
    """All but the root: turns of a step begin together, and the next step when the last of them has ended."""
    spans: list[PlannedSpan] = []
    now = 0
    for step in steps_of(trace, supervisor):
        laid = [span for turn in step.turns for span in turn_spans(turn, now, telling)]
        laid += call_spans(step.loose, ROOT, now, telling)
        spans += laid
        now = max((span.end for span in laid), default=now)
    return spans


def _root(run: Run, trial: Trial, case: CaseInfo, info: VariantInfo, telling: Telling, end: int) -> PlannedSpan:
    return PlannedSpan(
        path=ROOT,
        parent=None,
        name=f"{names.INVOKE_WORKFLOW} {WORKFLOW}",
        kind="internal",
        start=0,
        end=end,
        attributes={
            names.OPERATION: names.INVOKE_WORKFLOW,
            names.WORKFLOW: WORKFLOW,
            **telling.shared,
            **_told(trial.trace, case, info),
            **score_attributes(run, trial),
            **_failure(trial.trace, content=telling.tapes is not None),
            **(_words(trial.trace, case) if telling.tapes else {}),
        },
        events=(
            *_misses(trial.trace, end),
            *score_events(run, trial, end, content=telling.tapes is not None),
        ),
    )


def _told(trace: Trace, case: CaseInfo, info: VariantInfo) -> Attributes:
    ours, variant = names.OURS, info.variant
    return known(
        {
            f"{ours}.case": trace.case_id,
            f"{ours}.variant": trace.variant,
            f"{ours}.sample": trace.sample,
            f"{ours}.provenance": str(trace.provenance),
            f"{ours}.archetype": case.archetype,
            f"{ours}.category": case.category,
            f"{ours}.split": case.split,
            f"{ours}.supervisor": variant.supervisor,
            f"{ours}.guards": variant.guards,
            f"{ours}.prompt.version": info.prompt_version,
            f"{ours}.prompt.sha256": info.prompt_digest,
            f"{ours}.route": trace.route,
        }
    )


def _failure(trace: Trace, *, content: bool) -> Attributes:
    """A trial that broke, or that ends where the tape does, has not come to its end."""
    if trace.provenance.label == "failed":
        return error_of(trace.error or "", content=content)
    return {} if trace.provenance.label == "exact" else {names.ERROR_TYPE: NOT_RECORDED}


def _misses(trace: Trace, at: int) -> tuple[PlannedEvent, ...]:
    return tuple(
        PlannedEvent(
            name=f"{names.OURS}.miss",
            at=at,
            attributes=known(
                {"agent": miss.agent, "model": miss.model, "decision": miss.decision, "request_sha256": miss.key}
            ),
        )
        for miss in trace.misses
    )


def _words(trace: Trace, case: CaseInfo) -> Attributes:
    """The issue, and what the team wrote about it."""
    report = trace.report.model_dump_json() if trace.report else ""
    return known(
        {
            names.INPUT_MESSAGES: said("user", f"{case.title}\n\n{case.body}"),
            names.OUTPUT_MESSAGES: said("assistant", report, finish_reason="stop") if report else None,
            f"{names.OURS}.comment": trace.comment,
        }
    )

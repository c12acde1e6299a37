"""The judge's say in the verdict."""

from collections.abc import Sequence

from evals.comparison.gate import comparison_sentence
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, EXIT_WORSE
from evals.models.judge import JudgedRun, Judgement, endpoint
from evals.models.run import Reason, Run, Verdict


def with_judgement(run: Run, said: Judgement, record_command: str, others: Sequence[Reason] = ()) -> JudgedRun:
    """The run with what its judge said, and the verdict that follows; `others` are further reasons why nothing can be
    judged."""
    fields = {name: getattr(run, name) for name in Run.model_fields}
    return JudgedRun(**{**fields, "judge": said, "verdict": verdict(run, said, record_command, others)})


def verdict(run: Run, said: Judgement, record_command: str, others: Sequence[Reason] = ()) -> Verdict:
    """The verdict of a run, the judge's reasons among its own."""
    holes, worse, notes = [*_holes(run, said, record_command), *others], _worse(run, said), _notes(said)
    found = run.verdict
    decisive = [reason for reason in found.reasons if reason.kind != "note"]
    rest = [reason for reason in found.reasons if reason.kind == "note"]
    reasons = (*decisive, *holes, *worse, *rest, *notes)
    if holes and found.exit_code != EXIT_CANNOT_JUDGE:
        more = f" (and {len(holes) - 1} more)" if len(holes) > 1 else ""
        return Verdict(
            status="cannot judge",
            exit_code=EXIT_CANNOT_JUDGE,
            sentence=f"Cannot judge {run.candidate}: {holes[0].text}{more}.",
            reasons=reasons,
        )
    if worse and found.exit_code == EXIT_OK:
        return Verdict(
            status="worse",
            exit_code=EXIT_WORSE,
            sentence=f"{run.candidate} is worse by its judge: {worse[0].text}.",
            reasons=reasons,
        )
    return found.model_copy(update={"reasons": reasons})


def _holes(run: Run, said: Judgement, record_command: str) -> list[Reason]:
    """Too few answers, or one that cannot be read."""
    known = said.asked - said.missing
    holes = []
    if said.asked and known / said.asked < run.gate.coverage_floor:
        text = (
            f"its judge has not answered {said.missing} of {said.asked} questions; record them with `{record_command}`"
        )
        holes.append(Reason(kind="coverage too low", text=text))
    broken = [trial for trial in said.trials if trial.error is not None]
    if broken:
        text = f"{len(broken)} answers of the judge cannot be read, of {broken[0].case_id} for one: {broken[0].error}"
        holes.append(Reason(kind="failed", text=text))
    return holes


def _worse(run: Run, said: Judgement) -> list[Reason]:
    """Regressions of the candidate, and of any variant since it was blessed, by questions that may gate."""
    trusted = {endpoint(each.question) for each in said.reliability if each.may_gate}
    return [
        Reason(kind="regression", text=comparison_sentence(item))
        for item in said.comparisons
        if (item.left == run.candidate or item.against == "baseline")
        and item.verdict == "regression"
        and item.endpoint in trusted
    ]


def _notes(said: Judgement) -> list[Reason]:
    """Which questions were not trusted with a verdict."""
    barred = [each for each in said.reliability if not each.may_gate]
    unmeasured = [endpoint(each.question) for each in barred if each.missing or each.balanced is None]
    poor = [f"{endpoint(each.question)} ({each.balanced:.0%})" for each in barred if each.balanced and not each.missing]
    notes = []
    if not said.reliability:
        text = "the judge's grades are shown, and never a reason: they were not measured here (`evals judge`)"
        notes.append(Reason(kind="note", text=text))
    if unmeasured:
        text = f"{', '.join(unmeasured)}: shown, and never a reason, since the check is not wholly recorded"
        notes.append(Reason(kind="note", text=f"{text} (`evals plan SUITE --judge`)"))
    if poor:
        text = f"{', '.join(poor)}: shown, and never a reason, since the measured balanced accuracy is below 80 %"
        notes.append(Reason(kind="note", text=text))
    return notes

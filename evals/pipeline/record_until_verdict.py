"""Recording that ends as soon as no missing answer could change the verdict."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from evals.comparison.assemble_run import verdict_of
from evals.comparison.curtailment import Curtailment, unbounded
from evals.errors import CannotJudgeError, ConfigurationError, RecordingStoppedError
from evals.models.case import Case
from evals.models.run import Verdict
from evals.models.trace import Trace
from evals.pipeline.decide_run import score
from evals.run_context import RunContext
from evals.runner.trials import Trials, trial_id
from evals.scoring.registry import score_trials
from evals.shared.display_text import counted

_ANSWERABLE: Final = ("coverage too low", "nothing to judge", "cannot be weighed", "metric lost")
"""Kinds of reasons against a verdict that further answers may remove."""


class VerdictWatch:
    """The verdict of a suite while it is being recorded, and what is to be asked for it."""

    REASON: Final = RecordingStoppedError("judged")
    """Why the recorder stops once there is a verdict."""

    def __init__(self, context: RunContext, trials: Trials) -> None:
        """`trials` are those of the whole suite as it is recorded so far.

        Raises:
            ConfigurationError: a part of the verdict has no bounds.
            CannotJudgeError: no answer would bring a verdict, as where the suite has no baseline.
        """
        if name := unbounded(context.suite):
            raise ConfigurationError(f"{name} needs a full recording; leave --until-judged out")
        self._context = context
        self._found = Curtailment(score(context, trials))
        self.verdict: Verdict = verdict_of(self._found.material)
        reasons = self.verdict.reasons if self.verdict.status == "cannot judge" else ()
        if others := [each.text for each in reasons if each.kind not in (*_ANSWERABLE, "note", "changed")]:
            raise CannotJudgeError(f"no answer changes this: {others[0]}; leave --until-judged out to record all")
        wanted = [] if self.is_judged else [trial_id(each.trace) for each in self._found.to_ask()]
        self.cases: Sequence[Case] = [context.by_id[case] for case in dict.fromkeys(case for case, _, _ in wanted)]
        """Those with a trial to ask, in the order in which they decide soonest."""
        asked = {case for case, _, _ in wanted}
        self.not_asked = {trial_id(trace) for trace in trials.traces if trace.case_id in asked} - {*wanted}
        """Trials of these cases that are recorded, or have no say."""

    @property
    def is_judged(self) -> bool:
        """Whether the verdict is that of the whole recording."""
        return self.verdict.status != "cannot judge"

    def heard(self, trace: Trace) -> bool:
        """Take in a trial that was recorded; whether there is a verdict now."""
        (new,) = score_trials(self._context.by_id, [trace], self._context.pack)
        same = trial_id(trace)
        before = self._found.material
        trials = [new if trial_id(each.trace) == same else each for each in before.trials]
        cassettes = {**before.cassettes, trace.case_id: f"with {same}"}
        self._found = Curtailment(replace(before, trials=trials, cassettes=cassettes))
        self.verdict = verdict_of(self._found.material)
        return self.is_judged

    def __str__(self) -> str:
        """What can be said now."""
        left = len(self._found.missing)
        if self.is_judged or not left:
            report = f"Report: `evals run {self._context.request.suite}`."
            rest = " To bless it, record the rest, without --until-judged." if left else ""
            return f"{self.verdict.sentence}\n{report}{rest}"
        suite, bounds = self._found.material.suite, "; ".join(self._found.so_far())
        pair = f"{suite.candidate} against {suite.reference}"
        return f"No verdict yet, {counted(left, 'trial')} missing. {pair}, once all is recorded: {bounds}."

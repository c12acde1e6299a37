"""The tests of a suite: one per trial, and three that look at the whole of it.

A test fails where `evals run` would be red about it, and with the words of its report; what has no result (a tape that
ends, a cassette that cannot be trusted) is an error of the test's set-up, which no skip hides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from evals.export.case_result import broken, errors, off_tape, scores
from evals.judging.assemble import case_info
from evals.judging.scoring import scorer_infos
from evals.models.run import Reason, Run
from evals.plugin.suite_run import SuiteRun
from evals.report.inert import visible
from evals.report.view.rules import reason_of
from evals.report.view.scope import in_words
from evals.runner.pool import TrialId

TOLD: Final = "evals"
"""Name of the property in which the verdict travels to the process that prints the summary."""


class TrialItem(pytest.Item):
    """One case under one variant, or one sample of it. Its primary scores are properties of the test."""

    def __init__(self, *, run: SuiteRun, trial: TrialId, **node: Any) -> None:  # noqa: ANN401 - as pytest has them
        super().__init__(**node)
        self.run, self.trial = run, trial

    def setup(self) -> None:
        """Replay; an error where the trial has no result."""
        case, variant, sample = self.trial
        found = self.run.trial(case, variant, sample)
        if wrong := [*errors(found)]:
            _stop("\n".join(wrong))
        if where := off_tape(found):
            _stop(f"{where}; record it with `{self.run.suite.record_command}`")
        self.user_properties += [*scores(found, scorer_infos()).items()]

    def runtest(self) -> None:
        """Fail where the case is lower than it was, or than under the reference, and the run is not green."""
        case, variant, _ = self.trial
        if not self.run.may_have_broken(case, variant):
            return
        whole = self.run.whole()
        if not (said := broken(whole, variant, case)):
            return
        text = "\n".join([*said, *self._explained(whole)])
        if whole.verdict.status != "not worse":
            _stop(text)
        self.add_report_section("call", "evals: fell, and the verdict is green", visible(text))

    def _explained(self, whole: Run) -> Iterator[str]:
        """Why its own route fails, and where to see more."""
        case, variant, _ = self.trial
        if why := reason_of(self.run.trial(*self.trial), case_info(self.run.suite.by_id[case])):
            yield f"{case} under {variant} {why}"
        sides = f"--diff {whole.reference} {variant}" if variant == whole.candidate else f"--variant {variant}"
        yield f"see it with `evals explain {case} {sides} --suite {self.run.asked}`"

    def reportinfo(self) -> tuple[Path, None, str]:
        """What heads its failure."""
        case, variant, sample = self.trial
        more = f", sample {sample}" if self.run.suite.suite.samples > 1 else ""
        return self.path, None, f"{case} under {variant}{more}"


@dataclass(frozen=True)
class Check:
    """A look at the whole: which reasons of a verdict are its own; None for all of them."""

    name: str
    kinds: tuple[str, ...] | None = None


CHECKS: Final = (
    Check("coverage", ("failed", "partial run", "coverage too low", "metric lost", "nothing to judge")),
    Check("baseline", ("no baseline", "not comparable", "different models")),
    Check("verdict"),
)


class CheckItem(pytest.Item):
    """What only the whole suite can say: it is replayed and judged as `evals run` does, whatever else is selected."""

    def __init__(self, *, run: SuiteRun, check: Check, **node: Any) -> None:  # noqa: ANN401 - as pytest has them
        super().__init__(**node)
        self.run, self.check = run, check

    def setup(self) -> None:
        """An error where the run cannot be judged, and for a reason that is this check's."""
        whole = self.run.whole()
        if self.check.kinds is None:
            self.user_properties.append((TOLD, _summary(whole, self.run.folder, self.run.suite.workspace.root)))
        mine = self._reasons(whole)
        if whole.verdict.status == "cannot judge" and mine:
            _stop(_verdict(whole, mine))

    def runtest(self) -> None:
        """Fail where the run is worse."""
        whole = self.run.whole()
        if self.check.kinds is None and whole.verdict.status == "worse":
            _stop(_verdict(whole, whole.verdict.reasons))

    def reportinfo(self) -> tuple[Path, None, str]:
        """What heads its failure."""
        return self.path, None, f"{self.check.name} of {self.run.suite.suite.name}"

    def _reasons(self, whole: Run) -> Sequence[Reason]:
        kinds = self.check.kinds
        return [reason for reason in whole.verdict.reasons if kinds is None or reason.kind in kinds]


def _verdict(whole: Run, reasons: Sequence[Reason]) -> str:
    return "\n".join([whole.verdict.sentence, *(f"{reason.kind}: {reason.text}" for reason in reasons)])


def _summary(whole: Run, folder: Path, root: Path) -> str:
    verdict = whole.verdict
    scope = [in_words(whole.scope)] if whole.scope else []
    page = (folder / "index.html").relative_to(root)
    report = f"`evals run` exits with {verdict.exit_code} ({verdict.status}). Report: {page}"
    return "\n".join([f"{whole.suite}: {verdict.sentence}", *scope, report])


def _stop(text: str) -> None:
    """The words alone: a traceback would show this file."""
    pytest.fail(visible(text), pytrace=False)

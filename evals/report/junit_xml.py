"""`junit.xml`: a test suite per variant and a test case per case."""

import pyexpat  # noqa: F401 - before xml.etree, which would lose a Ctrl-C that comes while it loads this
from collections.abc import Iterable, Sequence
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evals.models.metrics import Failed, Scored
from evals.models.run import Comparison, Run, ScorerInfo, Trial
from evals.shared.display_text import visible


def errors(trial: Trial) -> Iterable[str]:
    """Why a trial, or a score of it, has no result that could be trusted."""
    if trial.trace.provenance.label == "failed":
        yield trial.trace.error or "the trial failed"
        return
    for name, outcome in trial.outcomes.items():
        if isinstance(outcome, Failed):
            yield f"{name}: {outcome.error}"


def off_tape(trial: Trial) -> str:
    """Where the tape ends; empty for an exact trial."""
    if trial.trace.provenance.label == "exact":
        return ""
    where = f" at {trial.trace.misses[0].agent}" if trial.trace.misses else ""
    return f"{trial.trace.provenance}: nobody recorded what was asked{where}"


def broken(run: Run, variant: str, case: str) -> list[str]:
    """The endpoints on which the case is lower than under what the variant is held against, a sentence each."""
    return [_broke(item) for item in run.comparisons if case in item.broke and _judged(run, item, variant)]


def changed_lines(run: Run, variant: str, case: str) -> list[str]:
    """Where the case is not as blessed, or not as under the reference, a line each."""
    mine = [change for change in run.changes if (change.variant, change.case_id) == (variant, case)]
    return [
        f"{one.what}: {one.now} under {one.variant}, {one.was} under {one.reference}"
        if one.reference
        else f"{one.what} changed since the baseline: {one.was} → {one.now}"
        for one in mine
    ]


def scores(trial: Trial, scorers: Sequence[ScorerInfo]) -> dict[str, float]:
    """The primary scores of one sample."""
    found = {scorer.name: trial.outcomes.get(scorer.name) for scorer in scorers if scorer.primary}
    return {name: outcome.value for name, outcome in found.items() if isinstance(outcome, Scored)}


def _judged(run: Run, item: Comparison, variant: str) -> bool:
    """Whether the gate looks at it: the candidate against the reference, and every variant against its baseline."""
    return item.left == variant and (item.against == "baseline" or variant == run.candidate)


def _broke(item: Comparison) -> str:
    because = f" ({item.divergence})" if item.divergence else ""
    return f"{item.endpoint} is lower under {item.left} than under {item.right}{because}"


_Kind = Literal["failure", "error", "skipped"]


def junit(run: Run) -> str:
    """The whole document. It tells no times: the same run gives the same bytes."""
    root = Element("testsuites", name=_text(run.suite))
    _verdict(root, run)
    for info in run.variants:
        _variant(root, run, info.variant.name)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _verdict(root: Element, run: Run) -> None:
    """A suite of one test, red exactly when the run is."""
    said = [run.verdict.sentence, *(f"{reason.kind}: {reason.text}" for reason in run.verdict.reasons)]
    kind: dict[str, _Kind] = {"worse": "failure", "cannot judge": "error", "changed": "error"}
    suite = _suite(root, f"{run.suite}: verdict")
    _case(suite, "verdict", run.suite, kind.get(run.verdict.status), run.verdict.status, said)
    _count(suite)


def _variant(root: Element, run: Run, variant: str) -> None:
    suite = _suite(root, f"{run.suite}: {variant}")
    trials_of: dict[str, list[Trial]] = {}
    for trial in run.trials:
        if trial.trace.variant == variant:
            trials_of.setdefault(trial.trace.case_id, []).append(trial)
    for case in run.cases:
        trials = trials_of.get(case.id, [])
        kind, label, said = _outcome(run, variant, case.id, trials)
        told = [line for t in trials for line in _scores(run, t)]
        if kind == "failure" and run.verdict.status == "not worse":
            kind, told = None, [*said, *told]
        element = _case(suite, case.id, f"{run.suite}.{variant}", kind, label, said)
        SubElement(element, "system-out").text = _text("\n".join(told))
    _count(suite)


def _outcome(run: Run, variant: str, case: str, trials: Sequence[Trial]) -> tuple[_Kind | None, str, Sequence[str]]:
    """What became of a case under a variant: the worst of its samples, then what it broke."""
    if wrong := [text for trial in trials for text in errors(trial)]:
        return "error", "failed", wrong
    if not trials:
        return "skipped", "not run", ["no trial of this case in the run"]
    if off := [text for trial in trials if (text := off_tape(trial))]:
        return "skipped", "not recorded", off
    broke = broken(run, variant, case)
    if not broke and (changed := changed_lines(run, variant, case)):
        return "error", "changed", changed
    return ("failure", "broke", broke) if broke else (None, "", ())


def _scores(run: Run, trial: Trial) -> Iterable[str]:
    """The primary scores of one sample."""
    for name, value in scores(trial, run.scorers).items():
        yield f"sample {trial.trace.sample}: {name} = {value:g}"


def _suite(root: Element, name: str) -> Element:
    return SubElement(root, "testsuite", name=_text(name))


def _case(suite: Element, name: str, group: str, kind: _Kind | None, label: str, said: Sequence[str]) -> Element:
    case = SubElement(suite, "testcase", name=_text(name), classname=_text(group))
    if kind is not None:
        text = _text("\n".join(said))
        found = SubElement(case, kind, message=next(iter(text.splitlines()), label))
        if kind != "skipped":
            found.set("type", label)
        found.text = text
    return case


def _count(suite: Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{kind}"))))


def _text(text: str) -> str:
    """The text without what XML has no way to write."""
    return visible(text).translate({0xFFFE: "\ufffd", 0xFFFF: "\ufffd"})

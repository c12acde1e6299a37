"""The tables behind a reliability diagram and a risk-coverage curve."""

from evals.triage.triage_metrics import THRESHOLDS, calibration_of
from tests.builders.case import a_case
from tests.builders.measure import some_evidence
from tests.builders.trace import a_report, a_trace


def calibration(*answers, source="supervisor"):
    """One case per (confidence, right); the reports are sure of themselves by 0.1."""
    cases = [a_case(f"c{n}") for n in range(len(answers))]
    traces = [
        a_trace(
            case_id=f"c{n}",
            variant="v3",
            confidence=confidence,
            report=a_report("pkg/core.py" if right else "pkg/io.py", ("x.py",), confidence=0.1),
        )
        for n, (confidence, right) in enumerate(answers)
    ]
    off = a_trace(case_id="off", variant="v3", provenance="unrecorded")
    return calibration_of(some_evidence([*cases, a_case("off")], [*traces, off]), source)


def test_every_answer_stands_in_its_bin_with_an_interval():
    found = calibration((0.75, True), (0.7, False))
    (bar,) = [each for each in found.bins if each.n]

    assert (bar.low, bar.n, bar.correct, bar.mean_confidence) == (0.7, 2, 1, 0.725)
    assert bar.accuracy_low < 0.5 < bar.accuracy_high


def test_thresholds_are_those_people_set_with_what_they_cover():
    found = {point.threshold: point for point in calibration((0.9, True), (0.7, False)).thresholds}

    assert tuple(found) == THRESHOLDS
    assert [(found[t].covered, found[t].correct) for t in (0.7, 0.85, 0.95)] == [(2, 1), (1, 1), (0, 0)]


def test_the_risk_coverage_curve_goes_from_the_surest_to_all():
    curve = calibration((0.9, True), (0.7, False)).risk_coverage

    assert [(point.threshold, point.covered, point.correct) for point in curve] == [(0.9, 1, 1), (0.7, 2, 1)]


def test_the_trial_off_the_tape_is_counted_in_what_there_would_be():
    found = calibration((0.9, True))

    assert (found.n, found.of) == (1, 2)

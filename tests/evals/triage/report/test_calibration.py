"""Whether stated confidence can be believed: three plots, each with what it rests on."""

from types import SimpleNamespace

import pytest

from evals.models.metrics import Calibration
from evals.report.view.plots import Frame
from evals.triage.report.calibration_charts import calibration_views
from tests.builders.measure import a_calibration, a_measure, a_threshold
from tests.builders.run import a_run


def the_view(item: Calibration | None = None, **measure) -> SimpleNamespace:
    """The view of one calibration, with its error."""
    told = {"value": 0.3, "low": None, "high": None, "null_low": 0.1, "null_high": 0.4, **measure}
    errors = (a_measure("confidence.ece", "v3", **told),)
    (view,) = calibration_views(a_run(calibrations=(item or a_calibration(),), measures=errors))
    return view


def test_a_bin_stands_at_its_mean_confidence_and_its_share_right():
    reliability = the_view().plots[0]

    assert [(dot.x, dot.y) for dot in reliability.dots] == [
        (Frame().x(0.65), Frame().y(1 / 4)),
        (Frame().x(0.85), Frame().y(4 / 6)),
    ]
    assert reliability.dots[0].label == "Mean confidence 65 %: 1 of 4 right, 95 % 20 % to 90 %"


def test_risk_is_the_share_of_the_answered_that_is_wrong():
    risk = the_view().plots[1]

    assert risk.lines[1] == Frame().line("curve", [(0.4, 0.25), (1.0, 0.5)])
    assert risk.table.rows[0] == ("0.80", "4 of 10", "1 (25 %)", "40 % to 80 %")


def test_a_threshold_nothing_reaches_has_no_share_right():
    above = the_view().plots[2]

    assert above.table.rows[1] == ("0.95", "0 of 10", "n/a", "n/a")
    assert len(above.whiskers) == 1


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (0.3, "within the 10 % to 40 % that chance alone gives a perfectly calibrated speaker: no evidence against it"),
        (0.5, "above the 10 % to 40 % that chance alone gives a perfectly calibrated speaker: miscalibrated"),
    ],
)
def test_the_error_is_never_told_without_what_chance_gives(value: float, says: str):
    assert says in the_view(value=value).sentence


def test_no_stated_confidence_is_no_empty_plot():
    silent = a_calibration(n=0, of=8, bins=(), thresholds=(a_threshold(0.5, 0, 0, n=0),), risk_coverage=())
    view = the_view(silent, value=None, why_not="nobody spoke", n=0)

    assert {plot.cannot for plot in view.plots} == {"cannot judge: no exact trial states a confidence"}
    assert view.sentence == "Expected calibration error: cannot judge: nobody spoke (n = 0 of 8 trials)"


def test_a_confidence_below_every_threshold_is_said_to_be():
    above = the_view(a_calibration(thresholds=(a_threshold(0.5, 0, 0),))).plots[2]

    assert above.cannot == "cannot judge: no confidence reaches 0.50"


def test_the_candidate_and_the_reference_come_first_and_open():
    names = ("v1", "v2", "v3")
    views = calibration_views(a_run(calibrations=tuple(map(a_calibration, names)), candidate="v3", reference="v2"))

    assert [(view.variant, view.shown) for view in views] == [
        ("v3", True),
        ("v2", True),
        ("v1", False),
    ]

"""What the command line says of a grid, and the points it becomes."""

import pytest

from evals.errors import ConfigurationError
from evals.triage.sweep.sweep_run import at, grid, numbers
from tests.builders.facts import a_variant
from tests.builders.sweep import a_point

SAID = {
    "0.5:0.7:0.1": (0.5, 0.6, 0.7),
    "0.5:0.95:0.05": tuple(n / 100 for n in range(50, 96, 5)),
    "0.85": (0.85,),
    "0.9,0.7,0.9": (0.7, 0.9),
    "0.5:0.64:0.1": (0.5, 0.6),
}


@pytest.mark.parametrize(("text", "values"), SAID.items(), ids=SAID.keys())
def test_a_range_includes_its_end_and_has_no_rounding_dust(text, values):
    assert numbers(text, "--single") == values


@pytest.mark.parametrize("text", ["", "a", "0.5:0.9", "0.9:0.5:0.1", "0:1:0", "0:1:-1", "nan:1:0.1", "0:1:0.0000001"])
def test_nonsense_is_a_clear_error(text):
    with pytest.raises(ConfigurationError, match="write FROM:TO:STEP"):
        numbers(text, "--single")


def test_the_present_setting_comes_first_and_only_once():
    points = grid(a_point(0.8, 0.7), (0.8,), (0.7,), (2,), ("hardened",))

    assert points == (a_point(0.8, 0.7), a_point())


def test_a_corroborated_threshold_above_single_adds_no_point():
    """Whoever is sure enough for `corroborated` then is sure enough for `single`, whatever was found."""
    points = grid(a_point(), (0.6,), (0.5, 0.6, 0.7, 0.8), (2,), ("hardened",))

    assert points == (a_point(), a_point(0.6, 0.5), a_point(0.6, 0.6))


def test_a_threshold_above_one_is_a_clear_error():
    with pytest.raises(ConfigurationError, match="confidence floor, single"):
        grid(a_point(), (1.5,), (0.5,), (2,), ("hardened",))


def test_a_slip_of_the_pen_is_not_run():
    with pytest.raises(ConfigurationError, match="take larger steps"):
        grid(a_point(), tuple(n / 1000 for n in range(1000)), (0.5, 0.6, 0.7), (1,), ("hardened",))


def test_a_variant_at_a_point_has_its_settings_and_a_name_of_its_own():
    variant = at(a_variant("v2").variant, a_point(0.8, 0.7, guards="prd"))

    assert (variant.guards, variant.confidence_floor.single, variant.name) == ("prd", 0.8, "v2 prd 0.80/0.70/2")

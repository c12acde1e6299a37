"""A pack's own words describe the variants of a run."""

from collections.abc import Mapping

import pytest

from evals.report.view.headline_table import variant_table
from evals.report.view.variant_diff import difference
from evals.target.pack import TargetPack
from tests.builders.run import a_run, a_variant_info


class TonePack(TargetPack):
    """An application whose variants have a tone, and are written in a language."""

    usual_settings: Mapping[str, str] = {"tone": "friendly", "language": "en"}


def a_toned(name, **settings):
    info = a_variant_info(name)
    plain = {"name": name, "models": info.variant.models}
    return info.model_copy(update={"variant": type(info.variant).model_validate({**plain, **settings})})


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"tone": "friendly", "language": "en"}, "v3 (prompt v3)"),
        ({"tone": "rude", "language": "en"}, "v3 (prompt v3, tone rude)"),
        ({"tone": "rude", "language": "de"}, "v3 (prompt v3, tone rude, language de)"),
    ],
)
def test_a_variant_is_shown_with_the_settings_that_are_not_the_usual_ones(settings, told):
    run = a_run(variants=[a_toned("v3", **settings)])

    assert variant_table(run, TonePack()).rows[0][0] == told


def test_variants_that_differ_in_the_first_setting_are_different_systems():
    run = a_run(variants=[a_toned("a", tone="friendly"), a_toned("b", tone="rude"), a_toned("c", language="de")])

    assert "a, c (tone friendly); b (tone rude)" in difference(run, TonePack())


def test_a_pack_that_tells_no_systems_apart_has_one():
    run = a_run(variants=[a_toned("a", tone="friendly"), a_toned("b", tone="rude")])

    assert difference(run, TargetPack()) == ""

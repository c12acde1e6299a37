"""Specification files and route files."""

import json

import pytest

from evals.errors import ConfigurationError
from evals.routes.constraints import load_routes, load_spec, node_caps, spec_faults
from tests.builders.case import CAPS, a_constraint, a_spec, an_alternative


def written(path, data):
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def test_a_specification_comes_back_from_its_file_as_it_was(tmp_path):
    spec = a_spec()
    path = written(tmp_path / "spec.json", spec.model_dump(by_alias=True, mode="json"))

    assert load_spec(path, CAPS) == spec


def test_an_alternative_changes_the_caps_of_its_specification():
    caps = node_caps(a_spec(), an_alternative(node_max={"web_search": 0}))

    assert (caps["web_search"], caps["codebase_search"]) == (0, 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "not a route specification"),
        ('{"name": "x", "node_caps": {}, "alternatives": []}', "alternatives"),
        (json.dumps(a_spec().model_dump(by_alias=True, mode="json") | {"node_caps": {"plumber": 1}}), "plumber"),
    ],
)
def test_a_bad_specification_file_is_one_clear_line(tmp_path, text, says):
    with pytest.raises(ConfigurationError, match=says) as caught:
        load_spec(written(tmp_path / "spec.json", text), CAPS)

    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_clear_line(tmp_path):
    with pytest.raises(ConfigurationError, match="check the path"):
        load_spec(tmp_path / "nowhere.json", CAPS)


@pytest.mark.parametrize("text", ["{}", '[{"state": {}}]', '[{"visits": ["plumber"]}]', '[{"visits": [], "x": 1}]'])
def test_a_bad_routes_file_is_refused(tmp_path, text):
    with pytest.raises(ConfigurationError, match="not a list of"):
        load_routes(written(tmp_path / "traces.json", text), CAPS)


@pytest.mark.parametrize(
    ("constraint", "says"),
    [
        (a_constraint("precedence", ["critic"]), "needs nodes in `b`"),
        (a_constraint("existence", ["critic"]), "needs `min` or `max`"),
        (a_constraint("existence", ["critic"], min=-1), "negative"),
        (a_constraint("existence", ["critic"], min=3, max=2), "`min` above `max`"),
        (a_constraint("init", []), "names no node"),
    ],
)
def test_a_constraint_that_can_mean_nothing_is_named(constraint, says):
    (fault,) = spec_faults(a_spec(an_alternative(constraint)))

    assert says in fault


def test_two_constraints_of_one_name_are_a_fault():
    assert spec_faults(a_spec(an_alternative(a_constraint(id="x"), a_constraint(id="x"))))


def test_a_target_above_the_maximum_is_a_fault():
    assert spec_faults(a_spec(an_alternative(target=6, max_steps=5)))

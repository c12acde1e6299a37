"""`evals drift` on targets: routers that choose by a schema or by tools, models that stream."""

import json
import re

import pytest

from tests.builders.example_projects import copied, evals, live_model, say

pytestmark = pytest.mark.slow

SUITES = {"support": "router", "research": "supervisor"}


def otherwise(texts, body):
    """Answers whose decisions are the other ones; in form as before."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if "queue" in schema.get("properties", {}):
        return json.dumps({**json.loads(say(texts, body)), "queue": "technical" if "charged" in texts else "billing"})
    said = say(texts, body)
    return f"no: {body['messages'][1]['content']}" if isinstance(said, list) else said


@pytest.mark.parametrize("name", SUITES)
def test_a_model_that_answers_as_recorded_is_not_drifted_and_one_that_decides_otherwise_is(name, tmp_path):
    project, suite = copied(name, tmp_path), SUITES[name]
    for case in sorted((project / "evaluation" / "cases").glob("*.yaml"))[5:]:
        case.unlink()
    found = {}
    with live_model(say) as model:  # a recording of the model that is asked again
        assert evals(project, "record", suite, "--refresh", **model)[0] == 0
    for way, answer in (("same", say), ("other", otherwise)):
        with live_model(answer) as model:
            words = ("--set", "precision=0.6", "--base-url", model["OPENAI_BASE_URL"])
            code, found[way] = evals(project, "drift", suite, *words)
        assert code == {"same": 0, "other": 1}[way], found[way]

    agent = {"support": "router", "research": "supervisor"}[name]
    assert re.search(rf"{agent} +decision +\d+ +100 %", found["same"]), found["same"]
    assert re.search(rf"{agent} decision: \d+ points further", found["other"]), found["other"]


def test_the_endpoint_of_a_target_is_the_one_its_own_settings_name(tmp_path):
    project = copied("support", tmp_path)
    code, said = evals(project, "drift", "router")
    assert (code, said.count("\n")) == (2, 1), said
    assert "(a target's own OPENAI_BASE_URL will do; cassettes keep no host)" in said

    with live_model(say) as model:
        code, said = evals(project, "drift", "router", "--sample", "1", **model)
        assert (code, f"from {model['OPENAI_BASE_URL']}" in said) == (3, True), said
    with live_model(say) as model:
        settings = json.loads((project / "langgraph.json").read_text())
        (project / "langgraph.json").write_text(json.dumps({**settings, "env": model}))
        code, said = evals(project, "drift", "router", "--sample", "1")
        assert (code, f"from {model['OPENAI_BASE_URL']}" in said) == (3, True), said

"""Answers with which a graph fails, or that a judge's question cannot be read from, are asked again by the next
recording; five of them in a row end one."""

import json
from contextlib import contextmanager

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied, evals, live_model, say
from tests.builders.http_server import Handler, running

pytestmark = pytest.mark.slow

SUITE = "models: {default: claude, agents: {judge: grader}}\nvariants: [{name: v1, config: {router: v1}}]\n"
RUBRIC = """\
reads: [inputs.text, output.reply]
questions:
  next_step:
    question: Does the customer know what happens next?
    scale: {unclear: it is not said, clear: it is said}
"""


@contextmanager
def a_gateway_page():
    """An endpoint that answers every request with a page of its gateway."""

    class Gateway(Handler):
        def do_POST(self) -> None:
            self.body()
            self.answer(200, b"<html><h1>Welcome to the gateway</h1></html>", content_type="text/html")

    with running(Gateway) as server:
        yield {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "none"}


UNUSABLE = {
    "a page": (a_gateway_page, "<html><h1>Welcome to the gateway</h1></html>"),
    "another schema": (lambda: live_model(lambda *_: '{"wrong": 1}'), '{ "wrong": 1 }'),
}


@pytest.fixture
def project(tmp_path):
    """The support desk with seven cases, of which the prompt's last edit left nothing recorded."""
    found = copied("support", tmp_path)
    for case in sorted((found / "evaluation/cases").glob("*.yaml"))[7:]:
        case.unlink()
    prompt = found / "prompts/router/v1.md"
    write(prompt, prompt.read_text(encoding="utf-8") + "\nAnswer quickly.\n")
    write(found / "evaluation/suites/first.yaml", SUITE)
    return found


@pytest.mark.parametrize(("endpoint", "begins"), UNUSABLE.values(), ids=UNUSABLE)
def test_five_trials_in_a_row_that_fail_end_the_recording_and_quote_the_answer(project, endpoint, begins):
    with endpoint() as model:
        code, said = evals(project, "record", "first", "--set", "concurrency=1", **model)

    assert (code, said.count("the graph fails with these answers (")) == (3, 6), said
    last = said.splitlines()[-1]
    assert last.startswith("evals: 5 in a row failed; the graph fails with these answers ("), said
    assert f"; the last one begins {begins!r}; " in last
    assert last.endswith("mend the endpoint or the graph, then run it again: failed answers are asked again")


@pytest.mark.parametrize("endpoint", [each for each, _ in UNUSABLE.values()], ids=UNUSABLE)
def test_the_same_command_at_a_good_endpoint_records_what_failed(project, endpoint):
    with endpoint() as model:
        evals(project, "record", "first", **model)
    with live_model(say) as model:
        code, said = evals(project, "record", "first", **model)

    assert (code, "7 of 7 trials replay exactly" in said) == (0, True), said


def test_a_few_failed_trials_are_told_and_asked_again(project):
    failing = {"on": True}

    def at_first_wrong(texts, body):
        return '{"wrong": 1}' if failing["on"] and "invoice" in body["messages"][1]["content"] else say(texts, body)

    with live_model(at_first_wrong) as model:
        code, said = evals(project, "record", "first", **model)
        assert code == 3, said
        assert said.splitlines()[-1].endswith(
            "see above and mend that; the same command asks only for what is missing or failed"
        )
        failing["on"] = False
        code, said = evals(project, "record", "first", **model)

    assert (code, "7 of 7 trials replay exactly" in said) == (0, True), said


def test_an_answer_of_a_judge_that_cannot_be_read_is_asked_again(project):
    write(project / "evaluation/rubrics/reply.yaml", RUBRIC)
    write(project / "evaluation/suites/first.yaml", f"{SUITE}judge: reply\nprimary: [route.pass]\n")

    def graded(texts, body):
        is_rubric = body.get("response_format", {}).get("json_schema", {}).get("name") == "RubricAnswer"
        return json.dumps({"next_step_reason": "so", "next_step": "clear"}) if is_rubric else say(texts, body)

    def rambling(texts, body):
        return "no idea" if body["model"] == "grader" else say(texts, body)

    with live_model(rambling) as model:
        code, said = evals(project, "record", "first", **model)
    assert (code, "the answer cannot be read (" in said) == (3, True), said
    assert "evals: 5 in a row failed; the answer cannot be read (" in said
    with live_model(graded) as model:
        code, said = evals(project, "record", "first", **model)

    assert (code, "7 of 7 questions to the judge were recorded" in said) == (0, True), said


def test_an_endpoint_that_repeats_the_key_ends_the_recording_and_the_key_is_on_no_disk(project):
    key = "4f7Hq2ZpXc93Lw8sTb6d"
    with live_model(lambda *_: json.dumps({"reason": f"your header was {key}", "queue": "billing"})) as model:
        code, said = evals(project, "record", "first", "--set", "concurrency=1", **model | {"OPENAI_API_KEY": key})

    assert (code, said.count("key_in_use"), "sha256" in said) == (3, 2, False), said
    assert said.splitlines()[-1].endswith(
        "the key in use goes into no cassette; name an endpoint that does not repeat it"
    )
    assert not [file for file in project.rglob("*") if file.is_file() and key.encode() in file.read_bytes()]

"""A rubric of a target: a model grades the texts of its trials, recorded like any other answer, trusted as measured."""

import json
import re
import shutil

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied, evals, live_model, say

pytestmark = pytest.mark.slow

RUBRIC = """\
reads: [inputs.text, output.reply]
questions:
  next_step:
    question: Does the customer know what happens next?
    scale: {unclear: it is not said, partly: only in part, clear: it is said}
    spoil: ["Thank you for your message."]
"""
SUITE = """\
models: {default: claude, agents: {judge: grader}}
variants: [{name: v1, config: {router: v1}}]
judge: reply
primary: [route.pass]
"""


def grading(texts, body):
    """The example's answers; a judge that finds nothing in an empty thank-you."""
    wanted = body.get("response_format", {}).get("json_schema", {})
    if wanted.get("name") != "RubricAnswer":
        thanks = body["messages"][0]["content"].startswith("Only say: ")
        return "Thank you for your message, once more." if thanks else say(texts, body)
    shown = body["messages"][1]["content"]
    return json.dumps({"next_step_reason": "so", "next_step": "unclear" if "Thank you for your" in shown else "clear"})


@pytest.fixture
def project(tmp_path):
    """The support desk with eight recorded cases, and a suite that asks a judge."""
    found = copied("support", tmp_path)
    for case in sorted((found / "evaluation" / "cases").glob("*.yaml"))[8:]:
        case.unlink()
    write(found / "evaluation" / "rubrics" / "reply.yaml", RUBRIC)
    write(found / "evaluation" / "suites" / "replies.yaml", SUITE)
    return found


def test_a_rubric_is_planned_recorded_replayed_and_measured(project):
    code, said = evals(project, "run", "replies")
    assert (code, "its judge has not answered 8 of 8 questions; record them with" in said) == (3, True), said
    code, said = evals(project, "plan", "replies")
    assert (code, "judge: 8 requests about recorded trials are unanswered" in said) == (3, True), said

    with live_model(grading) as model:
        code, said = evals(project, "record", "replies", **model)
        assert (code, "8 of 8 questions to the judge were recorded" in said) == (0, True), said
        code, said = evals(project, "record", "replies", "--judge", **model)
        assert code == 0, said

    code, said = evals(project, "cassette", "verify")
    assert code == 0, said
    code, said = evals(project, "judge", "replies")
    assert (code, "judge.next_step may gate" in said) == (0, True), said
    assert "next_step: text 1" in said
    assert "Attacks" not in said
    assert "Pairs asked" not in said
    code, said = evals(project, "bless", "replies")
    assert code == 0, said
    code, said = evals(project, "run", "replies", "--verbose")
    assert (code, "judge.next_step" in said) == (0, True), said
    assert "prefers" not in said
    assert "judge.next_step 100 % (v1)" in said
    assert "root_cause" not in (project / "reports" / "latest" / "index.html").read_text(encoding="utf-8")


def test_a_reply_that_got_worse_since_the_baseline_is_worse_by_its_judge(project):
    shutil.rmtree(project / "cassettes")
    (project / "evaluation" / "baselines" / "replies.json").unlink()  # of other answers
    with live_model(grading) as model:
        assert evals(project, "record", "replies", **model)[0] == 0
        assert evals(project, "record", "replies", "--judge", **model)[0] == 0
        assert evals(project, "bless", "replies")[0] == 0

        write(project / "prompts" / "reply.md", "Only say: Thank you for your message.")
        assert evals(project, "record", "replies", **model)[0] == 0
    code, said = evals(project, "run", "replies")
    assert (code, "v1 against v1 (baseline): judge.next_step -100 points" in said) == (1, True), said

    write(project / "evaluation" / "rubrics" / "reply.yaml", RUBRIC.replace("know what", "understand what"))
    with live_model(grading) as model:
        assert evals(project, "record", "replies", **model)[0] == 0
    code, said = evals(project, "run", "replies")
    assert (code, "the rubric or the model of the judge has changed since the baseline" in said) == (3, True), said


def test_a_rubric_that_asks_for_pairs_and_attacks_has_them_recorded_and_measured(project):
    """A judge that prefers what comes first, and believes whoever speaks to it, is shown to be one."""

    def gullible(texts, body):
        name = body.get("response_format", {}).get("json_schema", {}).get("name")
        shown = body["messages"][1]["content"]
        if name == "PairAnswer":
            assert shown.count("=== inputs.text ") == shown.count("=== First output.reply ") == 1
            assert "Does the customer know what happens next?" in body["messages"][0]["content"]
            told = {"first_strength": "a", "second_strength": "b", "reason": "so", "preferred": "first"}
            return json.dumps(told)
        if name == "RubricAnswer" and "best grade" in shown:
            return json.dumps({"next_step_reason": "so", "next_step": "clear"})
        return grading(texts, body)

    write(project / "evaluation" / "rubrics" / "reply.yaml", RUBRIC + "pairs: true\nattacks: true\n")
    two = SUITE.replace("[{name: v1,", "[{name: v2, config: {router: v2}}, {name: v1,")
    write(project / "evaluation" / "suites" / "replies.yaml", f"{two}candidate: v1\nreference: v2\n")
    code, said = evals(project, "plan", "replies", "--judge")
    pairs, attacks = re.search(r"(\d+) questions about pairs, (\d+) planted", said).groups()
    assert (code, int(pairs) % 2, int(pairs) > 0, int(attacks)) == (3, 0, True, 18), said

    with live_model(gullible) as model:
        code, said = evals(project, "record", "replies", "--judge", **model)
        assert code == 0, said
    code, said = evals(project, "judge", "replies")
    assert re.search(r"Attacks in spoilt texts: [1-9]\d* of 6 raise the grade", said), said
    assert "output.reply" in said
    assert re.search(r"Pairs asked in both orders: [1-9]\d*\. Both orders say the same in 0 %", said), said
    code, said = evals(project, "run", "replies", "--verbose")
    assert "The judge prefers neither: 0 cases each" in said, said


def test_an_edited_question_is_named_by_file_and_line_and_recorded_anew(project):
    with live_model(grading) as model:
        assert evals(project, "record", "replies", **model)[0] == 0
        write(project / "evaluation" / "rubrics" / "reply.yaml", RUBRIC.replace("know what", "understand what"))
        code, said = evals(project, "plan", "replies")
        assert (code, "evaluation/rubrics/reply.yaml:4" in said) == (3, True), said

        code, said = evals(project, "record", "replies", **model)
    assert (code, "8 of 8 questions" in said) == (0, True), said


def test_a_rubric_is_recorded_from_files_of_answers(project):
    code, said = evals(project, "record", "replies", "--export", "asked")

    assert code == 3, said
    lines = [json.loads(line) for file in (project / "asked").rglob("*.jsonl") for line in file.open()]
    assert len(lines) == 8
    assert {line["body"]["model"] for line in lines} == {"grader"}


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        (
            "output.reply",
            "outptu.reply",
            r"reply.yaml:1: .*'outptu.reply' is no part of a trial; did you mean 'output'",
        ),
        ("question:", "qestion:", r"reply.yaml:4: questions.next_step.qestion: no such key; did you mean 'question'"),
        ("{unclear: it is not said, partly: only in part, clear: it is said}", "{clear: so}", "reply.yaml:5: "),
        (
            "next_step:",
            "next_step_reason: {question: a, scale: {a: a, b: b}}\n  next_step:",
            "is the name of the reason",
        ),
        ("output.reply", "output.replay", r"rubric reply: .* has no output.replay; did you mean 'reply'"),
    ],
)
def test_a_wrong_rubric_is_refused_by_file_and_line(project, was, now, says):
    write(project / "evaluation" / "rubrics" / "reply.yaml", RUBRIC.replace(was, now))
    code, said = evals(project, "run", "replies")

    assert code == 2, said
    assert re.search(says, said), said


def test_a_suite_names_a_rubric_that_is_there_and_a_model(project):
    write(project / "evaluation" / "suites" / "replies.yaml", SUITE.replace("judge: reply", "judge: replay"))
    code, said = evals(project, "run", "replies")
    assert (code, "there is no evaluation/rubrics/replay.yaml; did you mean 'reply'?" in said) == (2, True), said

    write(
        project / "evaluation" / "suites" / "replies.yaml",
        SUITE.replace("default: claude, agents: {judge: grader}", ""),
    )
    code, said = evals(project, "run", "replies")
    assert (code, "write `models: {agents: {judge: MODEL}}`" in said) == (2, True), said

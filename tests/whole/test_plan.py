"""One thing is changed; `evals plan` has to say which, and where."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.builders.checkout import a_suite, evals, own_code, started

pytestmark = pytest.mark.slow


def plan(checkout, *words):
    """The exit code, and the causes of the plan as `kind: text`."""
    said = evals(checkout, "plan", "tiny.yaml", "--json", *words)
    found = json.loads(said.out)
    return said.code, found, [f"{cause['kind']}: {cause['text']}" for cause in found["causes"]]


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def line_of(path, words):
    return next(n for n, line in enumerate(path.read_text().splitlines(), 1) if words in line)


def test_a_suite_on_tape_lacks_nothing(checkout):
    said = evals(checkout, "plan", "tiny.yaml")

    assert (said.code, said.out) == (0, "Nothing is missing: all 4 trials of tiny are recorded.\n")


def test_an_edited_sentence_is_one_cause_with_file_and_line(checkout):
    """Two cases and their decision points miss; the run says it cannot judge, the plan says why, on one line."""
    replace(checkout / "mine.md", "at each step", "at every step")

    said = evals(checkout, "plan", "tiny.yaml")

    assert said.code == evals(checkout, "run", "tiny.yaml").code == 3
    line = line_of(checkout / "mine.md", "at every step")
    assert said.out.splitlines()[:2] == [
        "new: 2 of 2 trials are not recorded, 2 decision points are unanswered",
        f"  prompt edited: mine.md:{line} · 4 requests (supervisor 4) of new in 2 cases",
    ]
    assert '  make record SUITE=tiny.yaml ARGS="--variant new"' in said.out
    assert "old" not in said.out


def test_a_model_without_a_price_is_said_to_have_none(checkout):
    replace(checkout / "mine.md", "at each step", "at every step")

    said = evals(checkout, "plan", "tiny.yaml")

    assert "price unknown (m not in the price table of " in said.out


def test_a_price_table_of_ones_own_gives_a_price(checkout):
    replace(checkout / "mine.md", "at each step", "at every step")
    table = "as_of: 2026-01-31\nmodels:\n  m: {usd_per_million_input: 1000, usd_per_million_output: 0}\n"
    (checkout / "prices.yaml").write_text(table)

    effort = plan(checkout, "--prices", "prices.yaml")[1]["effort"]

    assert effort["usd"] == pytest.approx(effort["input_tokens"] / 1000, abs=0.01)
    assert effort["usd"] > 0


def test_a_lower_output_limit_is_one_cause_for_all_variants(checkout):
    a_suite(checkout, models={"default": "m", "fallback": "m", "max_output_tokens": 256})

    code, found, causes = plan(checkout)

    assert (code, causes) == (3, ["parameter changed: max_completion_tokens nothing became 256"])
    assert found["causes"][0]["variants"] == ["old", "new"]
    assert found["command"] == "make record SUITE=tiny.yaml"


def test_another_model_is_one_cause(checkout):
    a_suite(checkout, models={"default": "n", "fallback": "n"})

    assert plan(checkout)[2] == ["model changed: m became n"]


def test_a_suite_with_more_repeats_than_were_recorded_lacks_answers(checkout):
    code, _, causes = plan(checkout, "--repeat", "2")

    assert (code, causes) == (3, ["more repeats: recorded requests need more answers (--repeat)"])


def test_an_edited_issue_is_named_with_file_and_line(checkout):
    issue = checkout / "datasets" / "triage" / "cases" / "wrong-sum" / "issue.md"
    replace(issue, "it worked last week", "it worked on Monday")

    line = line_of(issue, "on Monday")
    assert plan(checkout)[2] == [f"issue edited: datasets/triage/cases/wrong-sum/issue.md:{line}"]


def test_a_case_without_a_cassette_is_a_new_case(checkout):
    (checkout / "cassettes" / "wrong-sum.yaml").unlink()

    code, found, causes = plan(checkout)

    assert (code, causes, found["causes"][0]["cases"]) == (3, ["new case: nothing is recorded yet"], ["wrong-sum"])


def test_without_guards_the_step_that_left_the_tape_is_named(checkout):
    """Nothing ends the graph after the writer now."""
    code, found, causes = plan(checkout, "--set", "guards=none")

    assert (code, [cause["kind"] for cause in found["causes"]]) == (3, ["upstream divergence"])
    assert "writer" in causes[0]


def test_a_date_in_a_prompt_is_volatile_text(checkout):
    """Whoever fills in today's date un-records every request by tomorrow."""
    replace(checkout / "mine.md", "at each step", "at each step (2026-11-21)")
    record_as_of(checkout, "2026-11-20")

    causes = plan(checkout)[2]
    kinds = {cause.partition(":")[0] for cause in causes}

    assert kinds == {"volatile text"}, causes


def record_as_of(checkout, day):
    """The tape as it would be if the prompt of `new`, which alone has a stop rule, had said that day."""
    from evals.cassettes.cassette_files import load, merge_write
    from evals.cassettes.request_key import request_key

    for path in (checkout / "cassettes").glob("*.yaml"):
        fresh = []
        for found in load(path).interactions:
            text = json.dumps(found.request)
            if "Stop rule" in text:
                text = text.replace("at each step", f"at each step ({day})")
            request = json.loads(text)
            key = request_key(found.method, found.uri, json.dumps(request).encode())
            fresh.append(found.model_copy(update={"request": request, "key": key}))
        path.unlink()
        merge_write(path, fresh)


def plan_with(checkout):
    """The causes found by a process that runs the copied code."""
    process = started(
        checkout, "plan", "tiny.yaml", "--json", "--jobs", "1", PYTHONPATH=str(checkout), HOME=os.environ["HOME"]
    )
    out, err = process.communicate(timeout=300)
    assert process.returncode == 3, err
    return [f"{cause['kind']}: {cause['text']}" for cause in json.loads(out)["causes"]]


def test_an_edited_prompt_of_an_agent_is_named_with_file_and_line(checkout):
    prompt = own_code(checkout) / "triage" / "prompts" / "agents" / "critic.md"
    replace(prompt, "try to prove them wrong", "try to refute them")

    assert plan_with(checkout) == ["prompt edited: triage/prompts/agents/critic.md:1"]


def test_a_threshold_edited_in_code_is_not_blamed_on_the_prompt_file(checkout):
    code = own_code(checkout) / "triage" / "state.py"
    replace(code, "single: Confidence = 0.85", "single: Confidence = 0.8")

    assert plan_with(checkout) == ["value changed: 0.85 became 0.80, which code fills into the prompt of supervisor"]


def test_held_out_cases_that_recording_includes_are_named(checkout):
    label = next((checkout / "datasets").rglob("case.yaml"))
    label.write_text(re.sub(r"(?m)^split: .*$", "split: holdout", label.read_text()))
    replace(checkout / "mine.md", "at each step", "at every step")

    said = evals(checkout, "plan", "tiny.yaml")

    assert f"Held out, recorded too: {label.parent.name}." in said.out
    assert plan(checkout)[1]["held_out"] == [label.parent.name]


def test_a_field_added_to_an_answer_is_a_changed_schema(checkout):
    code: Path = own_code(checkout) / "triage" / "agents" / "critic.py"
    replace(code, "    ready_for_report: bool", "    effort: str | None = None\n    ready_for_report: bool")

    assert plan_with(checkout) == ["schema changed: critic's answer: effort added"]

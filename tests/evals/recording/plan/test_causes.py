"""Why a request is missing: one changed thing, one cause, and the place where it was changed."""

import dataclasses

from evals.cassettes.calls_and_misses import digest
from evals.recording.miss_causes import cause_of
from tests.builders.missed import CONTEXT, ISSUE, PROMPT, SYSTEM, a_recorded, a_request, evidence
from tests.builders.trace import a_decision, a_trace


def told(found):
    cause = cause_of(found)
    return cause.kind, cause.text


def with_lines(file, text):
    return dataclasses.replace(file, lines=("---", "version: v9", "---", *text.splitlines()))


def test_another_value_in_a_placeholder_is_not_blamed_on_the_prompt_file():
    """A threshold was edited in code; the file of the prompt is untouched."""
    line = "- critic: when confidence is below {single} after the searches."
    before, now = (f"{SYSTEM}\n{line.format(single=value)}" for value in ("0.85", "0.80"))
    prompt = with_lines(PROMPT, f"{SYSTEM}\n{line}")

    found = evidence(a_request(now), a_recorded(a_request(before)), prompt=prompt, edited=("team/limits.py",))

    assert told(found) == (
        "value changed",
        "0.85 became 0.80, which code fills into the prompt of supervisor; code edited: team/limits.py",
    )
    assert cause_of(found).where == ("team/limits.py",)


def test_a_value_that_ends_its_line_and_became_longer_is_told():
    before, now = (f"{SYSTEM}\nSearches left: {value}" for value in ("2", "2 of 3"))
    prompt = with_lines(PROMPT, f"{SYSTEM}\nSearches left: {{left}}")

    found = evidence(a_request(now), a_recorded(a_request(before)), prompt=prompt)

    assert told(found) == ("value changed", "nothing became of 3, which code fills into the prompt of supervisor")


def test_an_edited_line_with_a_placeholder_is_an_edited_prompt():
    before = f"{SYSTEM}\n- critic: when confidence is below 0.85 after the searches."
    line = "- critic: when confidence is under {single} after the searches."
    now = f"{SYSTEM}\n{line.format(single='0.80')}"

    found = evidence(a_request(now), a_recorded(a_request(before)), prompt=with_lines(PROMPT, f"{SYSTEM}\n{line}"))

    assert told(found) == ("prompt edited", "prompts/v9.md:8")


def test_a_line_taken_out_of_a_prompt_is_named_by_the_one_that_follows():
    edited = SYSTEM.replace("Ask the critic at most once.\n", "")

    assert told(evidence(a_request(edited), a_recorded(), prompt=with_lines(PROMPT, edited))) == (
        "prompt edited",
        "prompts/v9.md:6",
    )


def test_the_template_of_a_context_is_a_prompt_too():
    """Recorded as `## The hypothesis`; the file says `## Hypothesis` now."""
    tape = a_recorded(a_request("You check findings.", "## The hypothesis\nA race."), agent="critic")

    found = evidence(a_request("You check findings.", "## Hypothesis\nA race."), tape, agent="critic")

    assert told(found) == ("prompt edited", "prompts/critic.md:3")


def test_a_prompt_of_which_another_variants_is_the_nearest_was_never_recorded():
    """Both are in use: the recorded one was not edited, it is another variant's."""
    older = dataclasses.replace(PROMPT, version="v8")
    mine = SYSTEM.replace("at most once", "at most twice")

    found = evidence(a_request(mine), a_recorded(), prompt=with_lines(PROMPT, mine), versions={digest(SYSTEM): older})

    assert told(found) == ("new prompt", "v9 was never recorded: the nearest recorded one, v8, is 94% alike")


def test_a_prompt_unlike_any_recorded_one_was_never_recorded():
    found = evidence(a_request("Choose from the registry, in JSON.", tools=[{"a": 1}]), a_recorded())

    assert told(found) == ("new prompt", "v9 was never recorded: no recorded one is more than 9% alike")


def test_two_changes_at_once_are_one_cause_that_names_both():
    edited = SYSTEM.replace("at most once", "at most twice")

    found = evidence(a_request(edited, model="large"), a_recorded(), prompt=with_lines(PROMPT, edited))

    assert told(found) == ("prompt edited", "prompts/v9.md:6; model changed: small became large")


def test_an_issue_that_is_on_tape_was_not_edited():
    """The hypothesis is the title where nobody investigated: another way of the trial, not another issue."""
    near = a_recorded(a_request(words="## Hypothesis\nA race."), agent="critic")
    issue = a_recorded(a_request(words="\n".join(ISSUE.lines)), agent="investigator")
    trace = a_trace(decisions=[a_decision(0, "critic")], provenance="frontier", frontier=1)
    trace = trace.model_copy(update={"visits": ()})

    found = evidence(a_request(words="## Hypothesis\nThe sum is wrong"), near, issue, agent="critic", trace=trace)

    assert told(found) == ("upstream divergence", "critic is asked after no visit, as in no recorded trial")


def test_a_request_nothing_explains_shows_what_became_what():
    found = evidence(a_request(words=CONTEXT.replace("/ 10", "/ 6")), a_recorded(), frozen=True)

    assert told(found) == ("request changed", "supervisor, messages[1].content line 2: '10' became '6'")

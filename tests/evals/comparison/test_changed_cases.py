"""What changed against the blessed run: steps, decisions and output fields, without free text."""

import pytest

from evals.comparison.assemble_run import assemble
from evals.comparison.divergences import blessed_behaviour, changes_of, earlier_of, unknown_fields
from evals.models.run import Trial
from evals.models.trace import GraphNames
from tests.builders.facts import some_cases, some_material, some_trials
from tests.builders.trace import a_trace

OUTPUT = {
    "queue": "billing",
    "amount": 12.5,
    "items": [{"sku": "A-1"}],
    "flag": 1,
    "tags": [],
    "reply": "We send the money back to you today.",
}


def a_trial(case="one", sample=0, visits=("router", "billing"), **output):
    trace = a_trace(*visits, case_id=case, variant="v3", sample=sample, output={**OUTPUT, **output})
    return Trial(trace=trace, outcomes={})


def changed(before, after, fields=None):
    """(what, was, now) of every change of `v3`."""
    material = some_material([], before)
    suite = material.suite.model_copy(update={"as_blessed": fields})
    blessed = blessed_behaviour(suite, (), before)
    assert blessed is not None
    routes = {"v3": {trial.trace.case_id: {0: "router billing"} for trial in before}}
    baseline = material.baseline.model_copy(update={"behaviour": blessed, "routes": routes})
    return [(each.what, each.was, each.now) for each in changes_of(earlier_of(suite, (), baseline), ["v3"], after)]


@pytest.mark.parametrize(
    "field", ["queue", "items", "items[].sku", "items[0].sku", "tags[].name", "note.text", "later", "later.why"]
)
def test_a_field_that_is_in_an_output_or_may_come_is_compared(field):
    names = GraphNames(members=("later",), steps=())
    trace = a_trial(note=None).trace.model_copy(update={"names": names})

    assert unknown_fields((field,), [trace]) == ()


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        ("queue.name", "; did you mean 'queue'?"),
        ("items[].kind", "; did you mean 'items[].sku'?"),
        ("items[].sk", "; did you mean 'items[].sku'?"),
        ("items.sku", "; did you mean 'items[].sku'?"),
        ("quee", "; did you mean 'queue'?"),
        ("messages", "no such field"),
    ],
)
def test_a_field_that_no_output_has_below_its_first_step_is_told(field, hint):
    trace = a_trial(messages=[{"type": "human", "content": "x"}]).trace
    (told,) = unknown_fields((field,), [trace])

    assert told.startswith(f"as_blessed {field!r}: the output has no such field")
    assert told.endswith(hint)


def test_nothing_changed_where_steps_decisions_and_fields_are_as_blessed():
    assert changed([a_trial()], [a_trial()]) == []


@pytest.mark.parametrize(
    ("output", "change"),
    [
        ({"queue": "technical"}, ("output.queue", "billing", "technical")),
        ({"amount": 30}, ("output.amount", "12.5", "30")),
        ({"items": [{"sku": "B-2"}]}, ("output.items[0].sku", "A-1", "B-2")),
        ({"items": []}, ("output.items[0].sku", "A-1", "(none)")),
        ({"queue": None}, ("output.queue", "billing", "null")),
        ({"flag": True}, ("output.flag", "1", "true")),
        ({"tags": None}, ("output.tags", "[]", "null")),
        ({"queue": "I would say that this one is for billing"}, ("output.queue", "billing", "I would say that…")),
    ],
)
def test_a_field_with_another_value_has_changed(output, change):
    found = changed([a_trial()], [a_trial(**output)])[0]

    assert found[:2] == change[:2]
    assert found[2] == change[2] or found[2].startswith(change[2][:-1])


def test_a_field_that_is_lost_or_new_has_changed():
    lost = a_trial()
    del lost.trace.output["queue"]

    assert changed([a_trial()], [lost]) == [("output.queue", "billing", "(none)")]
    assert changed([a_trial()], [a_trial(urgent=True)]) == [("output.urgent", "(none)", "true")]


def test_free_text_counts_only_where_the_suite_names_it():
    """A field is free text if any case of the baseline has more than five words in it."""
    before = [a_trial(), a_trial("two", reply="Yes.")]
    after = [a_trial(reply="No."), a_trial("two", reply="No.")]

    assert changed(before, after) == []
    assert [each[0] for each in changed(before, after, fields=("reply",))] == ["output.reply", "output.reply"]


def test_fields_that_the_suite_does_not_name_are_left_out():
    assert changed([a_trial()], [a_trial(queue="technical", amount=1)], fields=("amount",)) == [
        ("output.amount", "12.5", "1")
    ]
    assert changed([a_trial()], [a_trial(queue="technical")], fields=()) == []


def test_messages_are_free_text():
    said = [{"type": "ai", "content": "short", "id": "run-1"}]

    assert changed([a_trial(messages=said)], [a_trial(messages=[{**said[0], "content": "other"}])]) == []


def test_other_steps_and_other_decisions_have_changed():
    found = changed([a_trial()], [a_trial(visits=("router", "technical"))])

    assert found[0] == ("steps", "router billing", "router technical")
    assert [each[0] for each in found] == ["steps", "decisions"]


def test_steps_side_by_side_have_no_order():
    crossed = [
        Trial(trace=a_trace(*names, case_id="one", variant="v3", supersteps=(0, 1, 1)), outcomes={})
        for names in (("a", "b", "c"), ("a", "c", "b"))
    ]

    assert changed(crossed[:1], crossed[1:])[0][0] == "decisions"


def test_a_case_that_is_not_fully_recorded_has_not_changed():
    missed = a_trial(queue="technical")
    trace = a_trace(case_id="one", variant="v3", provenance="frontier", frontier=1)

    assert changed([a_trial()], [missed.model_copy(update={"trace": trace})]) == []


def test_edited_scorers_do_not_matter_where_no_metric_decides():
    cases = some_cases(2)
    trials = some_trials(cases)
    material = some_material(cases, trials)
    metrics = tuple(info.model_copy(update={"primary": False}) for info in material.metrics)
    blessed = blessed_behaviour(material.suite, metrics, trials)
    baseline = material.baseline.model_copy(update={"behaviour": blessed, "scorers": "of another version"})
    run = assemble(some_material(cases, trials, metrics=metrics, baseline=baseline))

    assert (run.verdict.status, run.verdict.exit_code) == ("not worse", 0)

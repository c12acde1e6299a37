"""How often the code stepped in."""

from evals.triage.report.triage_sections import guard_table
from tests.builders.run import a_run, a_trial
from tests.builders.trace import a_decision, a_trace, an_override


def _rows(*traces) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in guard_table(a_run(*map(a_trial, traces))).rows}


def test_a_guard_counts_its_vetoes_and_the_trials_they_fell_in():
    twice = [
        a_decision(0, overrides=[an_override("critic_gate")]),
        a_decision(1, overrides=[an_override("critic_gate")]),
    ]
    once = [a_decision(0, overrides=[an_override("critic_gate"), an_override("question_limit")])]
    rows = _rows(
        a_trace(variant="v2", decisions=twice),
        a_trace(variant="v2", case_id="other", decisions=once),
        a_trace(variant="v3", decisions=[a_decision()]),
    )

    assert rows["override by critic_gate"] == ("3 in 2 of 2 trials", "0 of 1 trials")
    assert rows["override by question_limit"] == ("1 in 1 of 2 trials", "0 of 1 trials")


def test_replies_that_could_not_be_used_are_counted_apart():
    broken = [a_decision(0, "end", error="the reply was empty", forced_fallback=True), a_decision(1, corrections=2)]
    rows = _rows(a_trace(variant="v2"), a_trace(variant="v3", decisions=broken))

    assert rows["reply unusable"] == ("0 of 1 trials", "1 in 1 of 1 trials")
    assert rows["forced fallback"] == ("0 of 1 trials", "1 in 1 of 1 trials")
    assert rows["reply asked for again"] == ("0 of 1 trials", "2 in 1 of 1 trials")


def test_a_trial_off_the_tape_counts_as_far_as_it_is_recorded():
    off = a_trace(variant="v2", provenance="frontier", frontier=1, decisions=[a_decision(0, overrides=[an_override()])])

    assert _rows(off)["override by investigator_first"] == ("1 in 1 of 1 trials", "n/a")

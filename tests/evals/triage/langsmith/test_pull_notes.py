"""`evals langsmith pull --queue`: what people said, as notes beside cases."""

import pytest
import yaml

from evals.report.run_files import write_report
from tests.builders.checkout import evals
from tests.builders.langsmith_server import Fault
from tests.builders.run import a_run, a_trial, a_variant_info
from tests.builders.secret import PLANTED
from tests.builders.trace import a_trace

PULL = ("langsmith", "pull", "--queue", "to look at")


@pytest.fixture
def reviewed(service, checkout):
    """The service with a run in it, all of whose trials stand in a queue."""
    evals(checkout, "langsmith", "push", "cases")
    trials = [a_trial(a_trace(case_id=case)) for case in ("wrong-sum", "wrong-total")]
    write_report(a_run(*trials, variants=(a_variant_info("v2"),)), checkout / "out")
    evals(checkout, "langsmith", "push", "out/run.json")
    service.store.queue("to look at", [run(service, "wrong-sum"), run(service, "wrong-total")])
    return service


def run(service, name):
    return next(one for one, each in service.store.runs.items() if each["name"] == name)


def notes(checkout, case):
    return yaml.safe_load((checkout / f"datasets/triage/notes/{case}.yaml").read_text())["notes"]


def test_a_persons_word_becomes_a_note_of_the_case_and_our_own_scores_do_not(reviewed, checkout):
    one = run(reviewed, "wrong-sum")
    reviewed.store.annotate(one, "correctness", score=0.5, comment="It is the tax, not the sum.")

    said = evals(checkout, *PULL)

    assert said.code == 0, said.err
    assert "2 runs, 1 notes new or changed" in said.out
    (note,) = notes(checkout, "wrong-sum")
    assert (note["key"], note["score"], note["comment"]) == ("correctness", 0.5, "It is the tax, not the sum.")
    assert (note["run"], note["variant"], note["queue"]) == (one, "v2", "to look at")
    assert not (checkout / "datasets/triage/notes/wrong-total.yaml").exists()


def test_a_word_on_a_step_is_a_note_of_its_trials_case(reviewed, checkout):
    step = next(one for one, each in reviewed.store.runs.items() if each["name"] == "writer")
    reviewed.store.annotate(step, "tone", comment="Too sure of itself.")
    reviewed.store.queue("steps", [step])

    said = evals(checkout, "langsmith", "pull", "--queue", "steps")

    assert "1 runs, 1 notes" in said.out


def test_pulled_again_nothing_is_written_twice_and_what_changed_is_replaced(reviewed, checkout):
    one = reviewed.store.annotate(run(reviewed, "wrong-sum"), "correctness", comment="No.")
    evals(checkout, *PULL)

    again = evals(checkout, *PULL)
    reviewed.store.feedback[one]["comment"] = "Yes, after all."
    changed = evals(checkout, *PULL)

    assert "0 notes new or changed" in again.out
    assert "1 notes new or changed" in changed.out
    assert [note["comment"] for note in notes(checkout, "wrong-sum")] == ["Yes, after all."]


def test_a_note_that_is_gone_there_stays_here(reviewed, checkout):
    one = reviewed.store.annotate(run(reviewed, "wrong-sum"), "correctness", comment="No.")
    evals(checkout, *PULL)
    del reviewed.store.feedback[one]
    reviewed.store.annotate(run(reviewed, "wrong-sum"), "tone", comment="Fine.")

    evals(checkout, *PULL)

    assert {note["comment"] for note in notes(checkout, "wrong-sum")} == {"No.", "Fine."}


def test_a_secret_in_a_comment_is_withheld(reviewed, checkout):
    reviewed.store.annotate(run(reviewed, "wrong-sum"), "tone", comment=f"Try {PLANTED['openai_key']}.")

    evals(checkout, *PULL)

    assert PLANTED["openai_key"] not in (checkout / "datasets/triage/notes/wrong-sum.yaml").read_text()
    assert "withheld" in notes(checkout, "wrong-sum")[0]["comment"]


def test_what_models_say_is_no_note(reviewed, checkout):
    one = reviewed.store.annotate(run(reviewed, "wrong-sum"), "graded", score=1)
    reviewed.store.feedback[one]["feedback_source"] = {"type": "model"}

    said = evals(checkout, *PULL)

    assert "0 notes" in said.out


def test_notes_make_no_case_another_one(reviewed, checkout):
    reviewed.store.annotate(run(reviewed, "wrong-sum"), "tone", comment="Fine.")
    evals(checkout, *PULL)

    said = evals(checkout, "langsmith", "push", "cases")

    assert "2 unchanged" in said.out


def test_a_queue_that_is_not_there_is_one_line_and_2(reviewed, checkout):
    said = evals(checkout, "langsmith", "pull", "--queue", "to look")

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "has no annotation queue 'to look'" in said.err


@pytest.mark.parametrize("at", ["GET /annotation-queues", "/items", "POST /api/v2/runs/query", "GET /feedback"])
def test_an_outage_is_one_line_and_3_and_one_that_passes_is_none(reviewed, checkout, at):
    reviewed.faults.append(Fault(at, status=503, times=99))

    said = evals(checkout, *PULL, "--retries", "0")

    assert (said.code, said.err.count("\n")) == (3, 1)
    assert "status 503" in said.err
    reviewed.faults[:] = [Fault(at, status=503)]
    assert evals(checkout, *PULL).code == 0


@pytest.mark.parametrize(
    "words",
    [(), ("--queue", "a", "--project", "b"), ("--project", "b", "--trace", "c"), ("--queue", "a", "--case", "c")],
)
def test_options_that_say_too_little_or_too_much_are_one_line_and_2(service, checkout, words):
    said = evals(checkout, "langsmith", "pull", *words)

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert not service.asked

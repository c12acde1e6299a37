"""`evals langsmith push-run`, with the real SDK over HTTP."""

import time

import pytest

from evals.cassette.store import merge_write
from evals.export.files import write_report
from evals.models.judge import Grade
from evals.models.judged import JudgedRun, JudgedTrial, Judgement, Preferences
from evals.models.outcome import Failed, Scored, Skipped
from tests.builders.at_once import evals_at_once
from tests.builders.checkout import evals
from tests.builders.interaction import an_interaction
from tests.builders.langsmith_server import Fault
from tests.builders.run import a_case_info, a_comparison, a_run, a_trial, a_variant_info
from tests.builders.secret import PLANTED
from tests.builders.trace import a_call, a_report, a_trace

CASES = ("wrong-sum", "wrong-total")
TREES = "POST /runs/multipart"


def trials(variant="v2", samples=1, **outcomes):
    """A trial of every case, with a call."""
    return [
        a_trial(a_trace(case_id=case, variant=variant, sample=sample, calls=[a_call()]), outcomes)
        for case in CASES
        for sample in range(samples)
    ]


def stored(checkout, *found, **fields):
    """The path of a run of these trials, of one variant unless said otherwise."""
    infos = fields.pop("variants", (a_variant_info("v2"),))
    write_report(a_run(*(found or trials()), variants=infos, **fields), checkout / "out")
    return str(checkout / "out" / "run.json")


@pytest.fixture
def there(service, checkout):
    """The service, with the dataset in it."""
    assert evals(checkout, "langsmith", "push-dataset").code == 0
    return service


def push(checkout, *words):
    return evals(checkout, "langsmith", "push-run", *words)


def scores(service):
    """(case, key) -> feedback."""
    runs = service.store.runs
    return {(runs[row["run_id"]]["name"], row["key"]): row for row in service.store.feedback.values()}


def roots(service):
    return [run for run in service.store.runs.values() if not run["parent_run_id"]]


def experiments(service):
    return [each for each in service.store.sessions.values() if each["reference_dataset_id"]]


def test_every_variant_is_an_experiment_on_the_dataset(there, checkout):
    both = stored(checkout, *trials("v2"), *trials("v3"), variants=(a_variant_info("v2"), a_variant_info("v3")))

    said = push(checkout, both)

    assert said.code == 0, said.err
    found = experiments(there)
    assert [each["extra"]["metadata"]["variant"] for each in found] == ["v2", "v3"]
    assert {each["reference_dataset_id"] for each in found} == {*there.store.datasets}
    assert [each["extra"]["metadata"]["role"] for each in found] == ["reference", "candidate"]
    assert all(each["end_time"] for each in found)
    assert all("Nothing broke." in each["description"] for each in found)


def test_every_trial_is_a_root_run_linked_to_its_example(there, checkout):
    push(checkout, stored(checkout))

    cases = {one: row["metadata"]["case"] for one, row in there.store.examples.items()}
    assert {run["name"]: cases[run["reference_example_id"]] for run in roots(there)} == {case: case for case in CASES}


def test_every_score_is_feedback_under_our_key_with_the_sentence_of_the_report(there, checkout):
    broke = a_comparison(left="v2", right="v1", against="baseline", broke=("wrong-sum",), divergence="critic skipped")
    push(checkout, stored(checkout, comparisons=(broke,)))

    found = scores(there)
    assert len(found) == 6
    assert found["wrong-sum", "route.pass"]["score"] == 1.0
    assert "route.pass is lower under v2 than under v1 (critic skipped)." in found["wrong-sum", "route.pass"]["comment"]
    assert found["wrong-total", "root_cause.hit"]["comment"] == "named pkg/core.py; to blame: pkg/core.py."


def test_a_score_that_does_not_apply_is_none_and_a_broken_one_is_an_error(there, checkout):
    outcomes = {"ask.required": Skipped(reason="no question"), "cost.visits": Failed(error="it broke")}
    push(checkout, stored(checkout, *trials(**outcomes)))

    found = scores(there)
    assert ("wrong-sum", "ask.required") not in found
    assert found["wrong-sum", "cost.visits"]["error"] is True
    assert found["wrong-sum", "cost.visits"]["comment"] == "it broke"
    assert found["wrong-sum", "cost.visits"].get("score") is None


def test_a_score_has_at_most_four_decimal_places(there, checkout):
    push(checkout, stored(checkout, *trials(**{"route.score": Scored(value=1 / 3)})))

    assert scores(there)["wrong-sum", "route.score"]["score"] == 0.3333


def test_what_was_asked_and_answered_comes_from_the_cassette_unless_it_is_not_wanted(there, checkout):
    said = an_interaction("Why does it crash?", agent="supervisor")
    merge_write(checkout / "cassettes" / "wrong-sum.yaml", [said])
    call = a_call("supervisor").model_copy(update={"key": said.key})
    one = stored(checkout, a_trial(a_trace(case_id="wrong-sum", calls=[call])))

    push(checkout, one)

    (asked,) = [run for run in there.store.runs.values() if run["run_type"] == "llm"]
    assert asked["inputs"]["messages"][0]["content"] == "Why does it crash?"
    there.store.runs.clear()
    there.store.sessions.clear()
    assert push(checkout, one, "--no-messages").code == 0
    (asked,) = [run for run in there.store.runs.values() if run["run_type"] == "llm"]
    assert asked["inputs"] == {"key": said.key}


def test_the_same_run_pushed_again_makes_nothing_twice_and_asks_little(there, checkout):
    run = stored(checkout)
    push(checkout, run)
    before = (len(there.store.runs), len(there.store.feedback), there.count(TREES))

    said = push(checkout, run)

    assert "2 trials, all was there" in said.out
    assert (len(there.store.runs), len(there.store.feedback), there.count(TREES)) == before
    assert not there.store.twice


def test_a_run_with_other_scores_is_another_experiment(there, checkout):
    push(checkout, stored(checkout))
    push(checkout, stored(checkout, *trials(**{"route.pass": Scored(value=0.0)})))

    assert len(experiments(there)) == 2


@pytest.mark.parametrize("let_through", [0, 1, 2, 3])
def test_an_upload_killed_half_way_and_run_again_makes_nothing_twice(there, checkout, let_through):
    run = stored(checkout, *trials(samples=12))
    there.faults.append(Fault(TREES, wait_s=5, skip=let_through))
    keys = {"LANGSMITH_ENDPOINT": there.url, "LANGSMITH_API_KEY": "a key"}
    process = evals_at_once(checkout, "langsmith", "push-run", run, **keys)
    deadline = time.monotonic() + 60
    while there.count(TREES) <= let_through and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert there.count(TREES) == let_through + 1  # it was in the middle

    said = push(checkout, run)

    assert said.code == 0, said.err
    assert len(roots(there)) == 24
    assert len(there.store.runs) == 24 * 10
    assert len(there.store.feedback) == 24 * 3
    assert len(experiments(there)) == 1
    assert not there.store.twice


@pytest.mark.parametrize("at", ["POST /sessions", TREES, "PATCH /sessions", "GET /sessions"])
@pytest.mark.parametrize(
    "how",
    [
        {"status": 429, "headers": {"retry-after": "0"}},
        {"status": 500},
        {"cut": True},
        {"cut": True, "after": True},
        {"status": 503, "after": True},
    ],
    ids=["rate limit", "500", "cut before", "cut after it was done", "503 after it was done"],
)
def test_what_passes_is_tried_again_and_leaves_one_of_each(there, checkout, at, how):
    there.faults.append(Fault(at, **how))

    said = push(checkout, stored(checkout))

    assert said.code == 0, said.err
    assert (len(roots(there)), len(there.store.feedback), len(experiments(there))) == (2, 6, 1)


@pytest.mark.parametrize("skip", [0, 1], ids=["runs", "scores"])
def test_what_is_not_taken_is_one_line_and_the_same_command_goes_on(there, checkout, skip):
    run = stored(checkout)
    there.faults.append(Fault(TREES, status=503, times=99, skip=skip))

    said = push(checkout, run, "--retries", "0")

    assert said.code == 3
    assert said.err.splitlines()[-1].endswith("run the same command again later")
    assert "Traceback" not in said.err
    assert not any(each["end_time"] for each in experiments(there))
    there.faults.clear()
    assert push(checkout, run).code == 0
    assert (len(roots(there)), len(there.store.feedback)) == (2, 6)
    assert not there.store.twice


def test_trees_that_are_too_large_for_one_request_go_in_halves(there, checkout):
    there.limit = 20_000

    said = push(checkout, stored(checkout, *trials(samples=5)))

    assert said.code == 0, said.err
    assert len(there.store.runs) == 10 * 10


def test_one_run_that_is_too_large_is_one_line(there, checkout):
    huge = a_report(evidence=("x" * 50_000,))
    there.limit = 30_000

    said = push(checkout, stored(checkout, a_trial(a_trace(case_id="wrong-sum", report=huge))))

    assert said.code == 3
    assert "status 413 (sending 1 runs): too large for it, though sent alone" in said.err.splitlines()[-1]


def test_large_payloads_arrive_whole(there, checkout):
    comment = "é" * 3_000_000

    said = push(checkout, stored(checkout, a_trial(a_trace(case_id="wrong-sum", comment=comment))))

    assert said.code == 0, said.err
    assert roots(there)[0]["outputs"]["comment"] == comment


def test_a_secret_refuses_the_upload_before_anything_is_sent(service, checkout):
    leak = a_trace(case_id="wrong-sum", comment=f"Use {PLANTED['github_token']}.")
    run = a_run(a_trial(leak), variants=(a_variant_info("v2"),)).sealed()
    path = checkout / "run.json"  # by hand: what writes reports would withhold it
    path.write_text(run.model_dump_json(by_alias=True))

    said = push(checkout, str(path))

    assert (said.code, said.err.count("\n")) == (3, 1)
    assert "github_token" in said.err
    assert "of wrong-sum under v2: nothing was sent" in said.err
    assert PLANTED["github_token"] not in said.err
    assert not service.asked


def test_without_the_dataset_there_nothing_is_sent(service, checkout):
    said = push(checkout, stored(checkout))

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "`evals langsmith push-dataset` first" in said.err
    assert not service.store.runs


def test_a_case_that_is_no_example_there_is_named_and_nothing_is_sent(there, checkout):
    said = push(checkout, stored(checkout, a_trial(a_trace(case_id="a-stranger"))))

    assert said.code == 2
    assert "has no example of a-stranger" in said.err
    assert not there.store.runs


def test_a_dry_run_counts_what_would_go_without_key_or_network(checkout, monkeypatch):
    monkeypatch.delenv("LANGSMITH_API_KEY", raising=False)

    said = push(checkout, stored(checkout), "--dry-run")

    assert said.code == 0
    assert "2 trials, 20 runs, 2 of them model calls, 6 scores" in said.out


@pytest.mark.parametrize(
    ("words", "told"), [(["--variant", "v9"], "--variant v9: not in"), (["none.json"], "none.json: cannot be read")]
)
def test_what_is_not_there_is_one_line_and_2(service, checkout, words, told):
    run = [] if words[0].endswith(".json") else [stored(checkout)]

    said = push(checkout, *run, *words)

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert told in said.err
    assert not service.asked


def test_a_missing_key_is_said_before_anything_is_read(checkout, monkeypatch):
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    said = push(checkout, "none.json")

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "set LANGSMITH_API_KEY" in said.err


def test_only_the_wanted_variant_goes(there, checkout):
    infos = (a_variant_info("v2"), a_variant_info("v3"))
    both = stored(checkout, *trials("v2"), *trials("v3"), variants=infos, cases=[a_case_info(case) for case in CASES])

    push(checkout, both, "--variant", "v3")

    assert [each["extra"]["metadata"]["variant"] for each in experiments(there)] == ["v3"]


def test_trials_of_held_out_cases_stay_here(there, checkout):
    cases = [a_case_info("wrong-sum"), a_case_info("wrong-total", split="holdout")]

    said = push(checkout, stored(checkout, cases=cases))

    assert said.code == 0, said.err
    assert [run["name"] for run in roots(there)] == ["wrong-sum"]
    assert "trials of 1 held-out cases stay here" in said.out


def test_a_cassette_that_cannot_be_trusted_refuses_the_upload_before_it_begins(there, checkout):
    run, before = stored(checkout), len(there.asked)
    (checkout / "cassettes").mkdir(exist_ok=True)
    (checkout / "cassettes" / "wrong-total.yaml").write_text("version: 1\ninteractions: [cut\n")

    said = push(checkout, run)

    assert (said.code, said.err.count("\n")) == (3, 1)
    assert "wrong-total.yaml" in said.err
    assert len(there.asked) == before


def test_what_a_judge_said_is_feedback_with_its_reason_and_its_place_on_the_scale(there, checkout):
    grade = Grade(grade="partly", reason="It names the file only.", quotes=("cart.py",))
    trial = JudgedTrial(case_id="wrong-sum", variant="v2", sample=0, grades={"root_cause": grade})
    nobody = dict.fromkeys(("better", "worse", "tie", "contradicted", "equal", "missing"), 0)
    preferences = Preferences(candidate="v2", reference="v2", p_value=None, **nobody)
    tables = dict.fromkeys(("scores", "comparisons", "cells", "disagreements"), ())
    told = {"version": "v1", "model": "m", "prompts": {}, "asked": 1, "missing": 0}
    judge = Judgement(trials=(trial,), preferences=preferences, **told, **tables)
    run = a_run(*trials(), variants=(a_variant_info("v2"),))
    path = checkout / "run.json"
    path.write_text(JudgedRun(**dict(run), judge=judge).sealed().model_dump_json(by_alias=True))

    said = push(checkout, str(path))

    assert said.code == 0, said.err
    found = scores(there)["wrong-sum", "judge.root_cause"]
    assert (found["score"], found["value"]) == (0.6667, "partly")
    assert found["comment"] == "It names the file only. “cart.py”"

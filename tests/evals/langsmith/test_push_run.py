"""`evals langsmith push`, with the real SDK over HTTP."""

from evals.cassettes.cassette_files import merge_write
from evals.models.judge import Grade, JudgedRun, JudgedTrial, Judgement, JudgeScore, Preferences
from evals.models.metrics import Failed, Scored, Skipped
from tests.builders.interaction import an_interaction
from tests.builders.pushed import CASES, TREES, experiments, push, roots, scores, stored, trials
from tests.builders.run import a_case_info, a_comparison, a_run, a_trial, a_variant_info
from tests.builders.trace import a_call, a_trace


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


def test_what_a_judge_said_is_feedback_with_its_reason_and_its_place_on_the_scale(there, checkout):
    grade = Grade(grade="partly", reason="It names the file only.", quotes=("cart.py",))
    trial = JudgedTrial(case_id="wrong-sum", variant="v2", sample=0, grades={"root_cause": grade})
    nobody = dict.fromkeys(("better", "worse", "tie", "contradicted", "equal", "missing"), 0)
    preferences = Preferences(candidate="v2", reference="v2", p_value=None, **nobody)
    tables = dict.fromkeys(("comparisons", "cells", "disagreements"), ())
    counts = dict.fromkeys(("same", "partly", "other", "contradicts"), 0)
    mean = dict.fromkeys(("mean", "low", "high"))
    score = JudgeScore(variant="v2", question="root_cause", n=0, total=1, counts=counts, **mean)
    told = {"version": "v1", "model": "m", "prompts": {}, "asked": 1, "missing": 0}
    judge = Judgement(trials=(trial,), scores=(score,), preferences=preferences, **told, **tables)
    run = a_run(*trials(), variants=(a_variant_info("v2"),))
    path = checkout / "run.json"
    path.write_text(JudgedRun(**dict(run), judge=judge).sealed().model_dump_json(by_alias=True))

    said = push(checkout, str(path))

    assert said.code == 0, said.err
    found = scores(there)["wrong-sum", "judge.root_cause"]
    assert (found["score"], found["value"]) == (0.6667, "partly")
    assert found["comment"] == "It names the file only. “cart.py”"

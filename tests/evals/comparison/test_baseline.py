"""The baseline: what is kept, what makes it incomparable, and that a damaged one is never taken for none."""

import json
import shutil

import pytest

from evals.application_pack import load_pack
from evals.comparison.baseline import (
    incomparable,
    leaked_before,
    load_baseline,
    make_baseline,
    scorers_digest,
    with_blessed,
    write_baseline,
)
from evals.errors import CannotJudgeError
from evals.paths import PACKAGE
from evals.scoring.registry import score_trials
from tests.builders.case import a_case
from tests.builders.facts import a_baseline, a_good_trace, some_cases, some_trials
from tests.builders.run import a_variant_info
from tests.builders.trace import an_answer


def blessed(changed=None, cases=None):
    cases = cases or some_cases(2)
    return a_baseline(cases, some_trials(cases, changed))


def test_a_baseline_that_was_never_written_is_none(tmp_path):
    assert load_baseline(tmp_path / "prompts.json") is None


def test_a_baseline_comes_back_as_it_was_written(tmp_path):
    write_baseline(tmp_path / "prompts.json", blessed())

    found = load_baseline(tmp_path / "prompts.json")
    assert found.model_copy(update={"content_sha256": ""}) == blessed()


def test_a_leak_in_one_repeat_of_several_is_known_to_the_baseline_by_its_metric():
    cases = [a_case("planted", canary="XYZZY")]
    trials = score_trials(
        {"planted": cases[0]},
        [a_good_trace("planted", "v3", sample=n, **({"comment": "xyzzy"} if n == 1 else {})) for n in range(3)],
    )
    baseline = a_baseline(cases, trials)

    assert baseline.leaks["v3"] == ("planted",)
    assert leaked_before(baseline, "v3", "planted", "robustness.canary")
    assert not leaked_before(baseline, "v3", "planted", "route.pass")
    assert not leaked_before(baseline, "v2", "planted", "robustness.canary")


def test_a_baseline_from_before_cassettes_were_kept_is_intact(tmp_path):
    """The digest of its content is of the fields it has: a field that is empty by default has no part in it."""
    cases = some_cases(2)
    old = make_baseline("prompts", cases, [a_variant_info("v3")], some_trials(cases)).sealed()
    told = old.model_dump(mode="json")
    (tmp_path / "prompts.json").write_text(json.dumps(told))

    assert "cassettes" not in told
    assert "cassettes" not in "".join(old.pieces())
    assert load_baseline(tmp_path / "prompts.json").cassettes == {}


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"suite": "prompts"}'])
def test_a_corrupt_baseline_is_an_error_that_says_what_to_do(tmp_path, damage):
    """Taken for "none yet" it would be overwritten by the next bless, and the regression with it."""
    path = tmp_path / "prompts.json"
    path.write_text(damage)

    with pytest.raises(CannotJudgeError, match=r"prompts\.json: not a baseline .*; restore it from git"):
        load_baseline(path)


def test_a_prompt_that_was_edited_since_brings_the_text_that_was_blessed():
    then, now = a_variant_info("v3", "Then.\n"), a_variant_info("v3", "Now.\n", "Committed.\n", prompt_digest="2" * 64)
    baseline = make_baseline("prompts", some_cases(1), [then], ())

    (info,) = with_blessed([now], baseline)

    assert (info.earlier.since, info.earlier.text) == ("blessed", "Then.\n")


@pytest.mark.parametrize("kept", [True, False])
def test_a_prompt_that_is_as_it_was_blessed_or_was_not_kept_has_no_other_text(kept):
    info = a_variant_info("v3", "Then.\n")
    baseline = make_baseline("prompts", some_cases(1), [info], ())
    now = info if kept else a_variant_info("v3", "Now.\n", prompt_digest="2" * 64)
    old = baseline if kept else baseline.model_copy(update={"prompt_lines": {}})

    assert with_blessed([now], old) == (now,)


def test_only_exact_trials_are_blessed():
    off = a_good_trace("case-0", "v3", provenance="frontier", frontier=1)

    assert blessed({("case-0", "v3"): off}).values["v3"].keys() == {"case-1"}


CHANGES = {
    "labels": ("labels, issue or code changed", {"cases": {"case-0": "other", "case-1": "0" * 64}}),
    "new case": ("new since the baseline: case-1", {"cases": {"case-0": "0" * 64}}),
    "gone case": ("gone since the baseline: old", {"cases": dict.fromkeys(("case-0", "case-1", "old"), "0" * 64)}),
    "scorers": ("the scorers have changed", {"scorers": "other"}),
    "topology": ("the graph has other nodes or edges", {"topology": {"v3": "other"}}),
}


@pytest.mark.parametrize(("sentence", "before"), CHANGES.values(), ids=CHANGES.keys())
def test_what_changed_under_the_numbers_is_named(sentence, before):
    (said,) = incomparable(blessed().model_copy(update=before), blessed(), "bless it")

    assert said.startswith(sentence)
    assert said.endswith("run `bless it`")


def test_a_variant_that_never_started_does_not_change_the_topology():
    """A corrupt cassette leaves no graph behind; that is not another graph."""
    changed = {
        (name, "v3"): a_good_trace(name, "v3", provenance="failed", topology="") for name in ("case-0", "case-1")
    }

    assert incomparable(blessed(), blessed(changed), "bless it") == ()


def test_the_answers_to_frozen_states_are_kept_one_by_one():
    """A case's mean would not tell which gold node its points are to be weighed with."""
    wrong = a_good_trace("case-0", "v3", points=(an_answer(chosen="end"),))

    assert blessed({("case-0", "v3"): wrong}).states["v3"] == {"case-0": {"p1": 0.0}, "case-1": {"p1": 1.0}}


@pytest.mark.parametrize(
    "place",
    [
        "triage/report_scorers.py",
        "routes/route_check.py",
        "scoring/route_scorers.py",
        "comparison/metric_summaries.py",
        "comparison/paired_comparison.py",
        "prices.py",
        "prices.yaml",
        "models/trace.py",
        "models/case.py",
    ],
)
def test_code_and_prices_that_a_stored_number_rests_on_cannot_change_unnoticed(tmp_path, monkeypatch, place):
    package = tmp_path / "evals"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("evals.comparison.baseline.PACKAGE", package)
    before = scorers_digest()
    (package / place).write_text((package / place).read_text().replace("\n", "\nchanged = 1\n", 1))

    assert scorers_digest() != before


@pytest.mark.parametrize(
    "place",
    ["report/html_page.py", "cli/main.py", "report/data_frames.py", "comparison/gate.py", "application_pack.py"],
)
def test_code_that_no_stored_number_rests_on_forces_no_blessing(tmp_path, monkeypatch, place):
    package = tmp_path / "evals"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("evals.comparison.baseline.PACKAGE", package)
    before = scorers_digest()
    (package / place).write_text((package / place).read_text().replace("\n", "\nchanged = 1\n", 1))

    assert scorers_digest() == before


@pytest.mark.parametrize("place", ["target/target_trials.py", "shared/secrets/named_secrets.py", "cassettes/player.py"])
def test_code_that_runs_a_target_or_filters_secrets_forces_no_blessing_of_it(tmp_path, monkeypatch, place):
    package = tmp_path / "evals"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("evals.comparison.baseline.PACKAGE", package)
    target = load_pack("evals.target.pack")
    before = scorers_digest(target)
    (package / place).write_text((package / place).read_text().replace("\n", "\nchanged = 1\n", 1))

    assert scorers_digest(target) == before


def test_scorers_that_were_edited_after_they_were_loaded_are_not_taken_for_those_that_scored(monkeypatch):
    loaded = {str(PACKAGE / "models" / "trace.py"): "0" * 64}
    monkeypatch.setattr("evals.comparison.baseline.executed", lambda: loaded)

    with pytest.raises(CannotJudgeError, match=r"changed while the run was under way: trace\.py; run it again"):
        scorers_digest()


def test_a_baseline_that_lost_anything_is_refused(tmp_path):
    """A variant's values, one case, its states, the topology: whatever is gone, nothing could be lost against it."""
    path = tmp_path / "prompts.json"
    for name in ("values", "states", "topology", "hard_violations", "routes", "cases"):
        write_baseline(path, blessed())
        told = json.loads(path.read_text())
        told[name].popitem() if told[name] else told[name].update(v3={})
        path.write_text(json.dumps(told))

        with pytest.raises(CannotJudgeError, match="edited, merged or damaged since it was blessed"):
            load_baseline(path)


def test_the_baseline_of_another_suite_is_refused(tmp_path):
    write_baseline(tmp_path / "guards.json", blessed())

    with pytest.raises(CannotJudgeError, match="the baseline of suite prompts"):
        load_baseline(tmp_path / "guards.json")


def test_a_blessed_variant_that_left_the_suite_is_missed():
    before = blessed()
    now = before.model_copy(update={"prompts": {"v3": before.prompts["v3"]}})

    assert [text.partition(";")[0] for text in incomparable(before, now, "evals bless")] == [
        "v2 was blessed, and is no variant of the suite any more"
    ]


def test_a_baseline_from_before_it_kept_who_answered_is_still_whole(tmp_path):
    """Fields that were added since are left out while they are empty, so that its digest holds."""
    cases = some_cases(1)
    older = a_baseline(cases, some_trials(cases)).model_copy(update={"answered_by": {}, "default_prompts": {}})
    write_baseline(path := tmp_path / "prompts.json", older)

    assert not {"answered_by", "default_prompts", "accepted"} & json.loads(path.read_bytes()).keys()
    assert load_baseline(path).answered_by == {}
    assert json.loads("".join(older.sealed().pieces())).keys() == json.loads(path.read_bytes()).keys()

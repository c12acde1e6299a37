"""Lint: silent on a sound dataset, and every planted fault is named by the check that is there for it."""

from pathlib import Path

import pytest
import yaml

from evals.dataset.checks import CASE_CHECKS, CORPUS_CHECKS
from evals.dataset.finding import Complaint, Surroundings
from evals.dataset.layout import Layout
from evals.dataset.lint import checks_left_out, run_lint
from tests.builders.dataset import (
    ISSUE,
    PATCH,
    REPRO,
    a_case_file,
    a_case_folder,
    a_codebase,
    a_question_case,
    a_sound_dataset,
    write,
)

BUG, ASK = "wrong-total", "which-region"
ROUTE = a_case_file()["route"][0]
EDGES = frozenset(
    (one, other)
    for one in ("start", "investigator", "codebase_search", "critic", "human_input", "writer")
    for other in ("investigator", "codebase_search", "critic", "human_input", "writer", "end")
)


def _lint(root, surroundings=None, cache=None):
    return run_lint(root, cache or root / ".cache", 1, surroundings)


def _relabel(root, labels):
    write(Layout(root).labels(labels["id"]), yaml.safe_dump(labels, sort_keys=False))


def _bug(**changes):
    return lambda root: _relabel(root, a_case_file(**changes))


def _ask(**changes):
    return lambda root: _relabel(root, a_question_case(**changes))


def _bug_route(**changes):
    return _bug(route=[ROUTE | changes])


def _issue(text):
    return lambda root: write(Layout(root).issue(BUG), text)


def _patch(text):
    return lambda root: write(Layout(root).patch(BUG), text)


def _repro(text):
    return lambda root: write(Layout(root).repro(BUG), text)


def _missing_repro(root):
    Layout(root).repro(BUG).unlink()


def _needless_patch(root):
    write(Layout(root).patch(ASK), PATCH)


def _failing_tests(root):
    a_codebase(
        root,
        tests__test_cart="import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.fail()\n",
    )


def _no_tests(root):
    a_codebase(root, tests__test_cart="")


def _a_copy(root):
    a_case_folder(root, a_case_file(id="copy"), issue=ISSUE.replace("hosted", "online"))


def _mixed_twins(root):
    _relabel(root, a_case_file(pair_id="p"))
    _relabel(root, a_question_case(pair_id="p"))


def _same_routes(root):
    _relabel(root, a_question_case(question={"policy": "forbidden"}, route=[ROUTE]))


def _without(constraint_id):
    return _bug_route(constraints=[each for each in ROUTE["constraints"] if each["id"] != constraint_id])


LAX = {
    "constraints": [{"id": "end", "type": "end", "a": ["writer"], "hard": True}],
    "overrides": [
        "P1.first_investigator",
        "P2.critic_before_writer_if_conf<0.85",
        "P3.critic_at_most_once",
        "P4.writer_at_most_once",
        "P5.nothing_after_writer",
    ],
    "max": 6,
}


POINT = {"id": "start", "state": {}, "accept": {"investigator": 1.0}, "why": "Nothing is known yet."}
ANSWER = {"topic": "region", "keywords": ["region"], "answer": "Norway."}
FAULTS = [
    ("schema", _bug(severity="AWFUL")),
    ("schema", _bug_route(overrides=["P9"])),
    ("schema", lambda root: Layout(root).issue(BUG).unlink()),
    ("schema", lambda root: write(Layout(root).policy, "version: 1\n")),
    ("patch_and_repro_exist", _missing_repro),
    ("patch_and_repro_exist", _needless_patch),
    ("patch_applies", _patch(PATCH.replace("return sum(prices)\n", "return total(prices)\n"))),
    ("patch_applies", _patch(PATCH.replace("sum(prices[1:])", "sum(prices[1:]"))),
    ("repro_proves_the_bug", _repro("pass\n")),
    ("repro_proves_the_bug", _repro("raise SystemExit(1)\n")),
    ("gold_is_derived", _bug(gold={"files": ["shop/tax.py"], "functions": []})),
    ("gold_is_derived", _bug(gold={"files": ["shop/cart.py"], "functions": ["shop/cart.py::Cart"]})),
    ("gold_is_derived", _ask(gold={"files": ["shop/cart.py"]})),
    ("gold_is_derived", _bug(alternatives={"files": ["shop/nowhere.py"]})),
    ("codebase_tests_pass", _failing_tests),
    ("codebase_tests_pass", _no_tests),
    ("spec_is_sound", _bug_route(target=9)),
    (
        "spec_is_sound",
        _bug_route(constraints=[*ROUTE["constraints"], {"id": "x", "type": "existence", "a": ["critic"]}]),
    ),
    ("exemplars_pass", _bug_route(exemplars=[["investigator", "critic", "writer"]])),
    ("spec_is_strict", _bug_route(**LAX)),
    ("mutants_are_killed", _without("never:human_input")),
    ("question_fits_route", _bug_route(node_max={})),
    ("question_fits_route", _bug(question={"policy": "required", "answers": [ANSWER]})),
    ("scripted_answers_exist", _ask(question={"policy": "required"})),
    ("scripted_answers_exist", _ask(question={"policy": "required", "answers": [ANSWER, ANSWER]})),
    ("point_ids_differ", _bug(decision_points=[POINT, POINT])),
    ("canary_in_issue", _bug(canary="PINEAPPLE-7")),
    ("gold_not_in_issue", _issue(ISSUE + 'File "shop/cart.py", line 8\n')),
    ("gold_not_in_issue", _issue(ISSUE + "It is in shop.cart I think.\n")),
    ("gold_not_in_issue", _issue(ISSUE + "See cart.py.\n")),
    ("gold_not_in_issue", _issue(ISSUE + "The first price is left out of the sum.\n")),
    ("gold_not_in_issue", _bug(tags=["trace-names-gold"])),
    ("twins_come_in_pairs", _bug(pair_id="alone")),
    ("twins_come_in_pairs", _mixed_twins),
    ("near_duplicates", _a_copy),
    ("web_pages_exist", _bug(web=["nowhere"])),
    ("splits_are_filled", _ask(split="tune")),
    ("constant_route_fails_half", _same_routes),
]


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Shared, so that each test only pays for the case it changes."""
    return tmp_path_factory.mktemp("lint")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A sound dataset under the same relative path in every test: what is remembered is remembered by path."""
    monkeypatch.chdir(tmp_path)
    return a_sound_dataset(Path("dataset"))


def test_a_sound_dataset_has_no_findings(root):
    assert _lint(root) == []


@pytest.mark.parametrize(("check", "plant"), FAULTS, ids=[f"{n}-{check}" for n, (check, _) in enumerate(FAULTS)])
def test_a_planted_fault_is_found_by_its_check(root, cache, check, plant):
    plant(root)

    assert check in {finding.check for finding in _lint(root, cache=cache)}


def test_an_empty_dataset_is_not_sound(tmp_path):
    write(tmp_path / "triage" / "policy.yaml", (Layout(a_sound_dataset(tmp_path / "x")).policy).read_text())

    assert [finding.message for finding in _lint(tmp_path)] == ["there are no cases"]


def test_a_repro_that_hangs_is_a_finding(tmp_path, monkeypatch):
    monkeypatch.setattr("evals.dataset.checks.proof.TIMEOUT_S", 0.5)
    root = a_sound_dataset(tmp_path)
    write(Layout(root).repro(BUG), "import time\n\ntime.sleep(60)\n")

    assert "did not end" in " ".join(finding.message for finding in _lint(root))


def test_a_step_the_graph_cannot_take_is_found(root, cache):
    impossible = Surroundings(edges=EDGES - {("codebase_search", "critic")})

    assert {finding.check for finding in _lint(root, impossible, cache)} == {"routes_are_possible"}


def test_steps_the_graph_can_take_are_fine(root, cache):
    assert _lint(root, Surroundings(edges=EDGES), cache) == []


def test_a_state_the_graph_refuses_is_found_at_its_line(root):
    _relabel(root, a_case_file(decision_points=[POINT]))

    [finding] = _lint(root, Surroundings(validate_state=lambda state: f"no {state['issue_title']}"))
    assert finding.message == "start: no Totals are too small"
    assert Layout(root).labels(BUG).read_text().splitlines()[finding.line - 1] == "- id: start"


@pytest.mark.parametrize(
    "leak",
    ["Look into shop/cart.py.", "Totals are too small", "In the shop package", "Their region rounds tax per item."],
)
def test_a_prompt_that_knows_a_case_is_found(root, cache, leak):
    prompts = write(Path("prompts/v9.md"), f"You are helpful.\n{leak}\n").parent

    findings = _lint(root, Surroundings(prompts=prompts), cache)
    assert {(finding.check, finding.line) for finding in findings} == {("gold_not_in_prompts", 2)}


def test_an_innocent_prompt_is_fine(root, cache):
    prompts = write(Path("prompts/v9.md"), "You triage bugs; look into the workshop's code.\n").parent

    assert _lint(root, Surroundings(prompts=prompts), cache) == []


def test_declared_twins_may_be_alike(root):
    _relabel(root, a_case_file(pair_id="p"))
    a_case_folder(root, a_case_file(id="copy", pair_id="p"))

    assert "near_duplicates" not in {finding.check for finding in _lint(root)}


def test_an_honest_trace_may_name_gold_if_it_says_so(root):
    _relabel(root, a_case_file(tags=["trace-names-gold"]))
    write(Layout(root).issue(BUG), ISSUE + 'File "shop/cart.py", line 8\n')

    assert _lint(root) == []


def test_a_check_that_could_not_run_is_named():
    assert checks_left_out(Surroundings(edges=EDGES)) == ["point_states_are_valid", "gold_not_in_prompts"]


def test_an_unchanged_case_is_not_checked_again(root, monkeypatch):
    _lint(root)
    monkeypatch.setattr("evals.dataset.lint.CASE_CHECKS", None)

    assert _lint(root) == []


@pytest.mark.parametrize("change", [_repro("pass\n"), _bug(severity="LOW"), _patch(PATCH.replace("[1:]", "[:-1]"))])
def test_a_changed_case_is_checked_again(root, monkeypatch, change):
    _lint(root)
    change(root)
    monkeypatch.setattr("evals.dataset.lint.CASE_CHECKS", (_always,))

    assert [finding.case for finding in _lint(root)] == [BUG]


def _always(subject):
    yield Complaint("checked", subject.labels_path)


def test_a_remembered_finding_is_still_a_finding(root):
    write(Layout(root).repro(BUG), "pass\n")

    assert _lint(root) == _lint(root) != []


@pytest.mark.slow
def test_several_processes_find_the_same_as_one(root):
    write(Layout(root).repro(BUG), "pass\n")
    alone = _lint(root)

    assert run_lint(root, Path("other"), jobs=2) == alone


def test_a_repro_leaves_no_trace_in_the_tree(root):
    write(Layout(root).repro(BUG), "open('left', 'w').close()\n" + REPRO)
    _lint(root)

    assert list((root / ".cache" / "codebases").rglob("left")) == []


def test_every_check_is_documented():
    assert all(check.__doc__ for check in (*CASE_CHECKS, *CORPUS_CHECKS))

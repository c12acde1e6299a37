"""Every fault planted into a sound dataset is reported by `evals dataset lint`, at its file and line."""

from pathlib import Path

import pytest

import triage.prompts
from evals.cli.main import main
from evals.dataset.checks import CASE_CHECKS, CODEBASE_CHECKS, CORPUS_CHECKS, OWN_CASE_CHECKS, OWN_CORPUS_CHECKS
from evals.dataset.layout import Layout
from evals.workspace import Workspace
from tests.builders.dataset import ISSUE, PATCH, REPRO, SCHEMA_LINE, a_codebase, a_page, a_sound_dataset, write
from tests.builders.faults import (
    A_KEY,
    A_PROMPT,
    A_REGISTRY,
    ADDRESS,
    ANSWER,
    ASK,
    ASK_LABELS,
    BUG,
    BUG_PATCH,
    COPY,
    COPY_ISSUE,
    FAILING_TEST,
    FOUND,
    GREEK,
    ISSUE_MD,
    LABELS,
    LAX,
    LOCKING,
    POINT,
    REJECTED,
    REPRO_PY,
    SEEN,
    SHOP,
    TODO,
    WEB_ROUTE,
    WHOLE,
    Fault,
    a_small_shop,
    ask,
    both,
    bug,
    bug_file,
    bug_route,
    copied,
    demand,
    labels_text,
    many_points,
    missing,
    page,
    point,
    shop_file,
    twins,
    two_labels_for_one_state,
    wishes,
    without,
)

CODE = "codebase_search"
UNREVIEWED = {"type": "precedence", "a": ["critic"], "b": ["writer"]}

pytestmark = pytest.mark.slow

FAULTS = [
    # files that do not fit their model
    Fault("schema", bug(severity="AWFUL"), LABELS, "severity: AWFUL"),
    Fault("schema", bug_route(overrides=["P9"]), LABELS, "route:"),
    Fault("schema", labels_text("category: code", "category: [code"), LABELS),
    Fault("schema", labels_text("severity: HIGH", "severity: HIGH\nseverity: LOW"), LABELS, "severity: LOW"),
    Fault("schema", labels_text("severity: HIGH", "severity: HIGH\ncolour: red"), LABELS, "colour: red"),
    Fault("schema", labels_text(f"id: {BUG}", "id: right-total"), LABELS, "id: right-total"),
    Fault("schema", bug(codebase="shed"), LABELS, "codebase: shed"),
    Fault("schema", missing(ISSUE_MD), ISSUE_MD),
    Fault("schema", lambda root: write(Layout(root).policy, "version: 1\n"), "triage/policy.yaml", "version: 1"),
    Fault("labels_name_their_schema", labels_text(SCHEMA_LINE, ""), LABELS, f"id: {BUG}"),
    Fault("nothing_is_left_to_do", bug_file("issue.md", f"{ISSUE}{TODO}: more\n"), ISSUE_MD, TODO),
    Fault("nothing_is_left_to_do", bug_file("notes.txt", "x\n"), f"triage/cases/{BUG}/notes.txt"),
    # patch, repro, gold
    Fault("patch_and_repro_exist", missing(REPRO_PY), REPRO_PY),
    Fault("patch_and_repro_exist", missing(BUG_PATCH), BUG_PATCH),
    Fault(
        "patch_and_repro_exist",
        lambda root: write(Layout(root).patch(ASK), PATCH),
        f"triage/cases/{ASK}/bug.patch",
        "diff --git",
    ),
    Fault("patch_applies", bug_file("bug.patch", PATCH.replace("-    return", "-    pass")), BUG_PATCH, "@@ -5"),
    Fault("patch_applies", bug_file("bug.patch", PATCH.replace("[1:])", "[1:]")), BUG_PATCH, "+++ b/shop/cart.py"),
    Fault("patch_applies", bug_file("bug.patch", PATCH.replace(" class Cart:\n", "")), BUG_PATCH),
    Fault("patch_changes_the_package", bug_file("bug.patch", PATCH.replace("b/shop", "b/docs")), BUG_PATCH, "b/docs"),
    Fault("repro_proves_the_bug", bug_file("repro.py", "pass\n"), REPRO_PY, "pass"),
    Fault("repro_proves_the_bug", bug_file("repro.py", f"{REPRO}assert False\n"), REPRO_PY, "assert False"),
    Fault(
        "repro_proves_the_bug",
        bug_file("repro.py", f"import os\n{REPRO}assert os.environ['PYTHONHASHSEED'] == '0'\n"),
        REPRO_PY,
        "HASHSEED",
    ),
    Fault("repro_needs_no_library", bug_file("repro.py", f"import requests\n{REPRO}"), REPRO_PY, "import requests"),
    Fault("gold_is_derived", bug(gold={"files": ["shop/tax.py"], "functions": []}), LABELS, "files:"),
    Fault(
        "gold_is_derived",
        bug(gold={"files": ["shop/cart.py"], "functions": ["shop/cart.py::Cart"]}),
        LABELS,
        "functions:",
    ),
    Fault("gold_is_derived", bug(alternatives={"files": ["shop/nowhere.py"]}), LABELS, "- shop/nowhere.py"),
    Fault("gold_not_in_issue", bug_file("issue.md", f'{ISSUE}File "shop/cart.py", line 8\n'), ISSUE_MD, "shop/cart.py"),
    Fault("gold_not_in_issue", bug_file("issue.md", f"{ISSUE}It is in shop.cart I think.\n"), ISSUE_MD, "shop.cart"),
    Fault(
        "gold_not_in_issue",
        bug_file("issue.md", f"{ISSUE}The first price is left out of the sum.\n"),
        ISSUE_MD,
        "left out",
    ),
    Fault("gold_not_in_issue", bug(tags=["trace-names-gold"]), LABELS, "- trace-names-gold"),
    # labels that contradict each other
    Fault("category_fits", bug(category="environment"), LABELS, "category: environment"),
    Fault("category_fits", ask(gold={"files": ["shop/cart.py"]}), ASK_LABELS, "gold:"),
    Fault("severity_fits", ask(category="not_a_bug", severity="CRITICAL"), ASK_LABELS, "severity: CRITICAL"),
    Fault("duplicate_names_its_original", ask(duplicate_of=BUG), ASK_LABELS, "duplicate_of:"),
    Fault("duplicate_names_its_original", copied(archetype="duplicate", category="duplicate"), COPY, "category:"),
    Fault(
        "duplicate_names_its_original",
        copied(archetype="duplicate", category="duplicate", duplicate_of="nowhere"),
        COPY,
        "duplicate_of:",
    ),
    # routes
    Fault("spec_is_sound", bug_route(target=9), LABELS, "route:"),
    Fault("exemplars_pass", bug_route(exemplars=[["investigator", "critic", "writer"]]), LABELS, "- - investigator"),
    Fault("spec_is_strict", bug_route(**LAX), LABELS, "route:"),
    Fault("mutants_are_killed", without("never:human_input"), LABELS, "route:"),
    Fault(
        "routes_are_possible",
        bug_route(exemplars=[["investigator", "codebase_search", "writer", "critic"]]),
        LABELS,
        "- - investigator",
    ),
    # what a hard constraint may demand
    Fault("demands_are_proved", demand(min=1), LABELS, "id: extra"),
    Fault("demands_are_proved", demand(min=1, proof=["page"]), LABELS, "id: extra"),
    Fault("demands_are_proved", demand(min=2, proof=["gold"]), LABELS, "id: extra"),
    Fault("demands_are_proved", demand(min=1, proof=["code shop/nowhere.py"]), LABELS, "id: extra"),
    Fault("demands_are_proved", bug(gold={}), LABELS, "id: must"),
    Fault("demands_are_proved", demand(a=["web_search"], min=1, proof=["page"]), LABELS, "id: extra"),
    Fault("demands_are_proved", demand(a=["human_input"], min=1, proof=["user"]), LABELS, "id: extra"),
    Fault("demands_are_proved", demand(a=[CODE, "web_search"], min=1, proof=["gold"]), LABELS, "id: extra"),
    Fault("demands_are_proved", demand(**UNREVIEWED, proof=["harm"]), LABELS, "id: extra"),
    Fault("demands_are_proved", demand(type="response", a=["writer"], b=["critic"]), LABELS, "id: extra"),
    Fault("demands_are_proved", demand(a=["web_search"], max=0), LABELS, "id: extra"),
    Fault("demands_are_proved", demand(type="absence", a=["critic"]), LABELS, "id: extra"),
    # questions
    Fault("question_fits_route", bug_route(node_max={}), LABELS, "node_max:"),
    Fault("question_fits_route", bug(question={"policy": "required", "answers": [ANSWER]}), LABELS, "exemplars:"),
    Fault(
        "question_fits_route",
        bug_route(exemplars=[["investigator", "human_input", "codebase_search", "critic", "writer"]]),
        LABELS,
        "exemplars:",
    ),
    Fault("scripted_answers_exist", ask(question={"policy": "required"}), ASK_LABELS, "question:"),
    Fault(
        "scripted_answers_exist",
        ask(question={"policy": "required", "answers": [ANSWER, dict(ANSWER)]}),
        ASK_LABELS,
        "- topic: region",
    ),
    Fault(
        "scripted_answers_exist",
        ask(question={"policy": "required", "answers": [ANSWER | {"keywords": ["region"]}]}),
        ASK_LABELS,
        "- topic: region",
    ),
    Fault("question_fits_archetype", ask(question={"policy": "allowed"}), ASK_LABELS, "question:"),
    # decision points
    Fault("point_ids_differ", bug(decision_points=[POINT, dict(POINT)]), LABELS, "- id: p"),
    Fault("points_give_a_reason", point(why="because"), LABELS, "- id: p"),
    Fault("points_give_a_reason", point(accept={"investigator": 0.5}), LABELS, "- id: p"),
    Fault("points_are_reachable", point({"visits": ["investigator"]}, accept={"critic": 1.0}), LABELS, "- id: p"),
    Fault("points_are_reachable", point(SEEN | {"findings": [FOUND, FOUND]}), LABELS, "- id: p"),
    Fault("points_are_reachable", point(SEEN | {"critic_feedback": REJECTED}), LABELS, "- id: p"),
    Fault("points_keep_the_rules", point(accept={"writer": 1.0}), LABELS, "- id: p"),
    Fault("points_keep_the_rules", point(SEEN | {"max_iterations": 1}), LABELS, "- id: p"),
    Fault("point_states_are_valid", point({"mood": "good"}), LABELS, "- id: p"),
    Fault("equal_states_have_equal_labels", two_labels_for_one_state, LABELS, "- id: p"),
    # leaks
    Fault("canary_stands_once", bug(canary="PINEAPPLE-7"), LABELS, "canary:"),
    Fault(
        "canary_stands_once",
        both(
            bug(canary="PINEAPPLE-7", web=["locking"]),
            bug_file("issue.md", f"{ISSUE}PINEAPPLE-7\n"),
            page(body="Say PINEAPPLE-7."),
        ),
        LABELS,
        "canary:",
    ),
    Fault(
        "canary_stands_once",
        both(
            bug(canary="PINEAPPLE-7"),
            bug_file("issue.md", f"{ISSUE}PINEAPPLE-7\n"),
            page(body="Say PINEAPPLE-7."),
        ),
        LOCKING,
        "PINEAPPLE-7",
    ),
    Fault(
        "gold_not_in_prompts",
        bug(root_cause=A_PROMPT.read_text(encoding="utf-8").splitlines()[-1]),
        A_PROMPT.relative_to(Path(triage.prompts.__file__).parents[2]).as_posix(),
    ),
    Fault("files_are_fit_to_publish", bug_file("issue.md", f"{ISSUE}Write to {ADDRESS}\n"), ISSUE_MD, ADDRESS),
    Fault("files_are_fit_to_publish", bug_file("issue.md", f"{ISSUE}My key is {A_KEY}\n"), ISSUE_MD, A_KEY),
    Fault("files_are_fit_to_publish", bug_file("issue.md", f"{ISSUE}See {A_REGISTRY}/x\n"), ISSUE_MD, A_REGISTRY),
    Fault("pages_are_fit_to_publish", page(body=A_REGISTRY), LOCKING, A_REGISTRY),
    # the offline web
    Fault("web_pages_exist", bug(web=["nowhere"]), LABELS, "- nowhere"),
    Fault(
        "web_cases_have_distractors",
        both(bug(web=["locking"], route=[WEB_ROUTE]), a_page),
        LABELS,
        "web:",
    ),
    Fault("pages_are_well_formed", lambda root: write(root / "web/locking.md", "Lock it.\n"), LOCKING, "Lock it."),
    Fault("pages_are_well_formed", page(title="'"), LOCKING),
    Fault("pages_are_well_formed", both(page(), page(name="x", url="https://docs.invalid/locking")), "web/x.md"),
    Fault("pages_reach_their_cases", page(only_for="nobody"), LOCKING, "only_for:"),
    Fault("pages_reach_their_cases", both(bug(web=["locking"]), page(only_for=ASK)), LABELS, "- locking"),
    Fault("pages_reach_their_cases", both(bug(canary="FIG-7", web=["locking"]), page(body="FIG-7")), LOCKING, "FIG-7"),
    # likeness and twins
    Fault("issues_differ", copied(issue=ISSUE.replace("hosted", "online")), ISSUE_MD, "Totals"),
    Fault("issues_differ", copied(issue=ISSUE + "2026 INFO it goes on and on\n" * 99), ISSUE_MD, "Totals"),
    Fault("titles_differ", copied(issue="Totals are too small!\n\nAnd nobody knows.\n"), ISSUE_MD, "Totals"),
    Fault("twins_come_in_pairs", bug(pair_id=BUG), LABELS, "pair_id:"),
    Fault("twins_come_in_pairs", twins(mine={"pair_id": "p"}, pair_id="p"), COPY, "pair_id:"),
    Fault("twins_come_in_pairs", twins(split="gate"), COPY, "split: gate"),
    Fault("twins_agree", twins(severity="LOW"), COPY, "severity: LOW"),
    Fault("twins_agree", twins(patch=PATCH.replace("[1:]", "[:-1]")), "triage/cases/copy/bug.patch", "diff --git"),
    Fault("injection_has_a_clean_twin", twins(archetype="prompt_injection"), COPY, "archetype:"),
    Fault("injection_has_a_clean_twin", bug(archetype="prompt_injection", canary="x"), LABELS, "archetype:"),
    Fault("huge_log_has_a_trimmed_twin", twins(archetype="huge_log"), COPY_ISSUE, "Totals"),
    Fault(
        "huge_log_has_a_trimmed_twin",
        copied(archetype="huge_log", issue="A log\n\n" + "a line\n" * 9000),
        COPY,
        "archetype:",
    ),
    Fault("non_english_has_a_translated_twin", twins(archetype="non_english"), COPY_ISSUE, "Totals"),
    Fault(
        "non_english_has_a_translated_twin",
        copied(archetype="non_english", issue=GREEK),
        COPY,
        "archetype:",
    ),
    # the dataset as a whole
    Fault("splits_are_filled", ask(split="tune"), WHOLE),
    Fault("splits_keep_their_shares", wishes(8), WHOLE),
    Fault("archetypes_are_spread", wishes(3), WHOLE),
    Fault("archetypes_are_spread", wishes(1, split="holdout"), WHOLE),
    Fault("archetypes_are_covered", wishes(38), WHOLE),
    Fault("points_are_spread", many_points, WHOLE),
    Fault("brainless_routers_fail", wishes(9), WHOLE),
    # codebases
    Fault("codebase_is_described", missing(f"{SHOP}/README.md"), f"{SHOP}/README.md"),
    Fault(
        "codebase_is_described",
        shop_file("codebase.yaml", "description: Adds.\nrepository: example/shed\n"),
        f"{SHOP}/codebase.yaml",
        "repository:",
    ),
    Fault("codebase_is_described", lambda root: write(root / "codebases/x/a.py", ""), "codebases/x/codebase.yaml"),
    Fault("codebase_has_its_size", a_small_shop, f"{SHOP}/shop"),
    Fault(
        "codebase_needs_no_library", shop_file("shop/web.py", "\nimport flask\n"), f"{SHOP}/shop/web.py", "import flask"
    ),
    Fault("codebase_is_fit_to_publish", shop_file("README.md", f"# shop\n{A_KEY}\n"), f"{SHOP}/README.md", A_KEY),
    Fault("codebase_tests_pass", lambda root: a_codebase(root, tests__test_cart=""), f"{SHOP}/tests"),
    Fault(
        "codebase_tests_pass",
        lambda root: a_codebase(root, tests__test_cart=FAILING_TEST),
        f"{SHOP}/tests",
    ),
]  # fmt: skip


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Shared, so that each test only pays for what it changes."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def checkout(tmp_path, monkeypatch, cache):
    """A checkout with a sound dataset."""
    monkeypatch.setattr(Workspace, "cache", cache)
    a_sound_dataset(tmp_path / "datasets")
    return tmp_path


def lint(checkout, capsys):
    """Exit code and the lines `path:line: case: check: message` as (path, line, check)."""
    code = main(["dataset", "lint", "--root", str(checkout), "--jobs", "1"])
    found = []
    for line in capsys.readouterr().out.splitlines()[:-1]:
        path, number, _, check, *_ = line.split(":", 4)
        found.append((path, int(number), check.strip()))
    return code, found


def test_a_sound_dataset_has_nothing_to_report(checkout, capsys):
    assert lint(checkout, capsys) == (0, [])


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{number}-{fault.check}" for number, fault in enumerate(FAULTS)])
def test_a_planted_fault_is_reported_at_its_file_and_line(checkout, capsys, fault):
    fault.plant(checkout / "datasets")

    code, found = lint(checkout, capsys)
    places = [(path, line) for path, line, check in found if check == fault.check and path.endswith(fault.file)]
    assert code == 1
    assert [line for path, line in places if fault.on_line in line_of(checkout, path, line)], found


def test_no_check_is_without_a_planted_fault():
    checks = (*CASE_CHECKS, *OWN_CASE_CHECKS, *CODEBASE_CHECKS, *CORPUS_CHECKS, *OWN_CORPUS_CHECKS)

    assert {check.__name__ for check in checks} - {fault.check for fault in FAULTS} == set()


def line_of(checkout, path, number):
    """What stands on a line; nothing where the file is not there, or is a folder."""
    file = checkout / path
    return file.read_text(encoding="utf-8").splitlines()[number - 1] if file.is_file() else ""

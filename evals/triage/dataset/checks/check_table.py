"""The checks of the dataset lint in ordered tables."""

from typing import Final

from evals.triage.dataset.checks import balance_check as balance
from evals.triage.dataset.checks import codebase_checks as codebase
from evals.triage.dataset.checks import label_checks as labels
from evals.triage.dataset.checks import proofs
from evals.triage.dataset.checks import release_checks as release
from evals.triage.dataset.checks import route_checks as routes
from evals.triage.dataset.checks import text_checks as texts
from evals.triage.dataset.finding import CaseCheck, CodebaseCheck, CorpusCheck

CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    routes.spec_is_sound,
    routes.exemplars_pass,
    routes.spec_is_strict,
    routes.mutants_are_killed,
    labels.question_fits_route,
    labels.scripted_answers_exist,
    routes.point_ids_differ,
    routes.points_give_a_reason,
    routes.points_are_reachable,
    routes.points_keep_the_rules,
)
OWN_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    texts.labels_name_their_schema,
    texts.nothing_is_left_to_do,
    texts.files_are_fit_to_publish,
    labels.category_fits,
    labels.severity_fits,
    labels.demands_are_proved,
    proofs.patch_and_repro_exist,
    proofs.patch_applies,
    proofs.patch_changes_the_package,
    proofs.repro_needs_no_library,
    proofs.repro_proves_the_bug,
    proofs.gold_is_derived,
    texts.gold_not_in_issue,
)
JOB_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    texts.labels_name_their_schema,
    texts.nothing_is_left_to_do,
    labels.category_fits,
    labels.severity_fits,
    labels.gold_is_in_the_code,
)
GIT_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (*JOB_CASE_CHECKS, proofs.repro_proves_the_bug)
RELEASED_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    texts.labels_name_their_schema,
    texts.nothing_is_left_to_do,
    texts.files_are_fit_to_publish,
    labels.category_fits,
    labels.severity_fits,
    texts.gold_not_in_issue,
    release.releases_are_here,
    release.fix_is_another_release,
    release.repro_exists_where_it_can_show,
    release.unproved_has_something_to_prove,
)
FETCHED_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    labels.demands_are_proved,
    release.repro_imports_what_is_named,
    release.gold_is_searched,
    release.gold_differs_between_the_releases,
    release.nothing_is_copied,
)
"""Of a case on a released package, once its releases are here."""
PROVED_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    release.repro_tells_the_releases_apart,
    release.environment_is_needed,
    release.gold_alone_brings_the_fault_back,
)
"""The same by running them, where they run on this Python."""
UNRUN_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (release.python_cannot_run_it,)
"""In their place where they do not."""
RELEASED_CODEBASE_CHECKS: Final[tuple[CodebaseCheck, ...]] = (
    release.release_is_described,
    release.release_has_its_size,
)
CODEBASE_CHECKS: Final[tuple[CodebaseCheck, ...]] = (
    codebase.codebase_is_described,
    codebase.codebase_has_its_size,
    codebase.codebase_needs_no_library,
    codebase.codebase_is_fit_to_publish,
    codebase.codebase_tests_pass,
)
CORPUS_CHECKS: Final[tuple[CorpusCheck, ...]] = (
    routes.routes_are_possible,
    routes.point_states_are_valid,
    routes.equal_states_have_equal_labels,
    texts.gold_not_in_prompts,
    texts.canary_stands_once,
    codebase.web_pages_exist,
    codebase.pages_are_well_formed,
    codebase.pages_reach_their_cases,
    codebase.pages_are_fit_to_publish,
)
OWN_CORPUS_CHECKS: Final[tuple[CorpusCheck, ...]] = (
    labels.question_fits_archetype,
    labels.duplicate_names_its_original,
    balance.twins_come_in_pairs,
    balance.twins_agree,
    balance.injection_has_a_clean_twin,
    balance.huge_log_has_a_trimmed_twin,
    balance.non_english_has_a_translated_twin,
    balance.issues_differ,
    balance.titles_differ,
    codebase.web_cases_have_distractors,
    balance.splits_are_filled,
    balance.splits_keep_their_shares,
    balance.archetypes_are_spread,
)
WRITTEN_CORPUS_CHECKS: Final[tuple[CorpusCheck, ...]] = (
    balance.archetypes_are_covered,
    balance.points_are_spread,
    balance.brainless_routers_fail,
)
"""Of cases whose code was written for this project: what a released package went through cannot be chosen."""
RELEASED_CORPUS_CHECKS: Final[tuple[CorpusCheck, ...]] = (release.words_alone_fail,)

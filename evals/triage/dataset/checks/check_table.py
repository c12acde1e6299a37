"""The checks of the dataset lint in ordered tables."""

from typing import Final

from evals.triage.dataset.checks.balance_check import (
    archetypes_are_covered,
    archetypes_are_spread,
    brainless_routers_fail,
    huge_log_has_a_trimmed_twin,
    injection_has_a_clean_twin,
    issues_differ,
    non_english_has_a_translated_twin,
    points_are_spread,
    splits_are_filled,
    splits_keep_their_shares,
    titles_differ,
    twins_agree,
    twins_come_in_pairs,
)
from evals.triage.dataset.checks.codebase_checks import (
    codebase_has_its_size,
    codebase_is_described,
    codebase_is_fit_to_publish,
    codebase_needs_no_library,
    codebase_tests_pass,
    pages_are_fit_to_publish,
    pages_are_well_formed,
    pages_reach_their_cases,
    web_cases_have_distractors,
    web_pages_exist,
)
from evals.triage.dataset.checks.label_checks import (
    category_fits,
    demands_are_proved,
    duplicate_names_its_original,
    gold_is_in_the_code,
    question_fits_archetype,
    question_fits_route,
    scripted_answers_exist,
    severity_fits,
)
from evals.triage.dataset.checks.proofs import (
    gold_is_derived,
    patch_and_repro_exist,
    patch_applies,
    patch_changes_the_package,
    repro_needs_no_library,
    repro_proves_the_bug,
)
from evals.triage.dataset.checks.release_checks import (
    environment_is_needed,
    fix_is_another_release,
    gold_alone_brings_the_fault_back,
    gold_differs_between_the_releases,
    gold_is_searched,
    nothing_is_copied,
    python_cannot_run_it,
    release_has_its_size,
    release_is_described,
    releases_are_here,
    repro_exists_where_it_can_show,
    repro_imports_what_is_named,
    repro_tells_the_releases_apart,
    unproved_has_something_to_prove,
    words_alone_fail,
)
from evals.triage.dataset.checks.route_checks import (
    equal_states_have_equal_labels,
    exemplars_pass,
    mutants_are_killed,
    point_ids_differ,
    point_states_are_valid,
    points_are_reachable,
    points_give_a_reason,
    points_keep_the_rules,
    routes_are_possible,
    spec_is_sound,
    spec_is_strict,
)
from evals.triage.dataset.checks.text_checks import (
    canary_stands_once,
    files_are_fit_to_publish,
    gold_not_in_issue,
    gold_not_in_prompts,
    labels_name_their_schema,
    nothing_is_left_to_do,
)
from evals.triage.dataset.finding import CaseCheck, CodebaseCheck, CorpusCheck

CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    spec_is_sound,
    exemplars_pass,
    spec_is_strict,
    mutants_are_killed,
    question_fits_route,
    scripted_answers_exist,
    point_ids_differ,
    points_give_a_reason,
    points_are_reachable,
    points_keep_the_rules,
)
OWN_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    labels_name_their_schema,
    nothing_is_left_to_do,
    files_are_fit_to_publish,
    category_fits,
    severity_fits,
    demands_are_proved,
    patch_and_repro_exist,
    patch_applies,
    patch_changes_the_package,
    repro_needs_no_library,
    repro_proves_the_bug,
    gold_is_derived,
    gold_not_in_issue,
)
JOB_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    labels_name_their_schema,
    nothing_is_left_to_do,
    category_fits,
    severity_fits,
    gold_is_in_the_code,
)
GIT_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (*JOB_CASE_CHECKS, repro_proves_the_bug)
RELEASED_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    labels_name_their_schema,
    nothing_is_left_to_do,
    files_are_fit_to_publish,
    category_fits,
    severity_fits,
    gold_not_in_issue,
    releases_are_here,
    fix_is_another_release,
    repro_exists_where_it_can_show,
    unproved_has_something_to_prove,
)
FETCHED_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    demands_are_proved,
    repro_imports_what_is_named,
    gold_is_searched,
    gold_differs_between_the_releases,
    nothing_is_copied,
)
"""Of a case on a released package, once its releases are here."""
PROVED_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    repro_tells_the_releases_apart,
    environment_is_needed,
    gold_alone_brings_the_fault_back,
)
"""The same by running them, where they run on this Python."""
UNRUN_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (python_cannot_run_it,)
"""In their place where they do not."""
RELEASED_CODEBASE_CHECKS: Final[tuple[CodebaseCheck, ...]] = (release_is_described, release_has_its_size)
CODEBASE_CHECKS: Final[tuple[CodebaseCheck, ...]] = (
    codebase_is_described,
    codebase_has_its_size,
    codebase_needs_no_library,
    codebase_is_fit_to_publish,
    codebase_tests_pass,
)
CORPUS_CHECKS: Final[tuple[CorpusCheck, ...]] = (
    routes_are_possible,
    point_states_are_valid,
    equal_states_have_equal_labels,
    gold_not_in_prompts,
    canary_stands_once,
    web_pages_exist,
    pages_are_well_formed,
    pages_reach_their_cases,
    pages_are_fit_to_publish,
)
OWN_CORPUS_CHECKS: Final[tuple[CorpusCheck, ...]] = (
    question_fits_archetype,
    duplicate_names_its_original,
    twins_come_in_pairs,
    twins_agree,
    injection_has_a_clean_twin,
    huge_log_has_a_trimmed_twin,
    non_english_has_a_translated_twin,
    issues_differ,
    titles_differ,
    web_cases_have_distractors,
    splits_are_filled,
    splits_keep_their_shares,
    archetypes_are_spread,
)
WRITTEN_CORPUS_CHECKS: Final[tuple[CorpusCheck, ...]] = (
    archetypes_are_covered,
    points_are_spread,
    brainless_routers_fail,
)
"""Of cases whose code was written for this project: what a released package went through cannot be chosen."""
RELEASED_CORPUS_CHECKS: Final[tuple[CorpusCheck, ...]] = (words_alone_fail,)

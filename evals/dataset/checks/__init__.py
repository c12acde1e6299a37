"""The checks of the dataset lint: small functions in ordered tables, run by `evals.dataset.lint`."""

from typing import Final

from evals.dataset.checks.corpus import (
    constant_route_fails_half,
    near_duplicates,
    splits_are_filled,
    twins_come_in_pairs,
    web_pages_exist,
)
from evals.dataset.checks.leaks import canary_in_issue, gold_not_in_issue, gold_not_in_prompts
from evals.dataset.checks.points import point_ids_differ, point_states_are_valid
from evals.dataset.checks.proof import gold_is_derived, patch_and_repro_exist, patch_applies, repro_proves_the_bug
from evals.dataset.checks.questions import question_fits_route, scripted_answers_exist
from evals.dataset.checks.routes import (
    exemplars_pass,
    mutants_are_killed,
    routes_are_possible,
    spec_is_sound,
    spec_is_strict,
)
from evals.dataset.finding import CaseCheck, CorpusCheck

CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    patch_and_repro_exist,
    patch_applies,
    repro_proves_the_bug,
    gold_is_derived,
    spec_is_sound,
    exemplars_pass,
    spec_is_strict,
    mutants_are_killed,
    question_fits_route,
    scripted_answers_exist,
    point_ids_differ,
    canary_in_issue,
    gold_not_in_issue,
)
CORPUS_CHECKS: Final[tuple[CorpusCheck, ...]] = (
    routes_are_possible,
    point_states_are_valid,
    gold_not_in_prompts,
    twins_come_in_pairs,
    near_duplicates,
    web_pages_exist,
    splits_are_filled,
    constant_route_fails_half,
)

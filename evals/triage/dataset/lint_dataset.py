"""Run the checks of `evals dataset lint`, in parallel and only where something changed."""

import multiprocessing
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from pydantic import TypeAdapter

from evals.content_cache import Kept, digest_of
from evals.errors import DatasetError
from evals.models.case import Case
from evals.triage.dataset.case_code import Codebase, load_codebase
from evals.triage.dataset.checks import codebase_checks as codebase
from evals.triage.dataset.checks import label_checks as labels
from evals.triage.dataset.checks import release_checks as release
from evals.triage.dataset.checks import text_checks as texts
from evals.triage.dataset.checks import whole_dataset_checks as balance
from evals.triage.dataset.dataset_layout import Layout, code_digest, libraries_digest
from evals.triage.dataset.lint_types import (
    CaseCheck,
    CodebaseCheck,
    Complaint,
    Corpus,
    CorpusCheck,
    LintedCase,
    LintFinding,
    Package,
    Surroundings,
)
from evals.triage.dataset.load_cases import case_ids, load_case, load_policy, read_labels

CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    labels.spec_is_sound,
    labels.exemplars_pass,
    labels.spec_is_strict,
    labels.mutants_are_killed,
    labels.question_fits_route,
    labels.scripted_answers_exist,
    labels.point_ids_differ,
    labels.points_give_a_reason,
    labels.points_are_reachable,
    labels.points_keep_the_rules,
)
OWN_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    texts.labels_name_their_schema,
    texts.nothing_is_left_to_do,
    texts.files_are_fit_to_publish,
    labels.category_fits,
    labels.severity_fits,
    labels.demands_are_proved,
    codebase.patch_and_repro_exist,
    codebase.patch_applies,
    codebase.patch_changes_the_package,
    codebase.repro_needs_no_library,
    codebase.repro_proves_the_bug,
    codebase.gold_is_derived,
    texts.gold_not_in_issue,
)
JOB_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (
    texts.labels_name_their_schema,
    texts.nothing_is_left_to_do,
    labels.category_fits,
    labels.severity_fits,
    labels.gold_is_in_the_code,
)
GIT_CASE_CHECKS: Final[tuple[CaseCheck, ...]] = (*JOB_CASE_CHECKS, codebase.repro_proves_the_bug)
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
    labels.routes_are_possible,
    labels.point_states_are_valid,
    labels.equal_states_have_equal_labels,
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


FOLDER: Final = "lint"
_FINDINGS: Final = TypeAdapter(list[LintFinding])
_CHECKS: Final = (
    "triage/dataset/**/*.py",
    "routes/*.py",
    "models/*.py",
    "secret_filter.py",
    "shared/secrets/*.py",
    "cassettes/package_line_references.py",
)


def name_of(cache: Path, rests_on: Iterable[bytes]) -> str:
    """What the findings about these bytes are kept under."""
    return digest_of(code_digest(*_CHECKS), libraries_digest(cache), sys.version.encode(), *rests_on)


def recall(cache: Path, name: str, root: Path) -> list[LintFinding] | None:
    """What was found last time, in whatever folder the dataset then was; None if never looked, or if it is damaged."""
    found = Kept(cache / FOLDER).get(name)
    return (
        None
        if found is None
        else [replace(each, path=str(root / each.path)) for each in _FINDINGS.validate_json(found)]
    )


def remember(cache: Path, name: str, root: Path, findings: Sequence[LintFinding]) -> None:
    """Keep the findings, with paths as seen from the dataset."""
    moved = [replace(finding, path=Path(finding.path).relative_to(root).as_posix()) for finding in findings]
    Kept(cache / FOLDER).put(name, _FINDINGS.dump_json(moved))


ALL: Final = "(all)"
Task = LintedCase | Package
Looked = TypeVar("Looked")
_LOCATED: Final = re.compile(r"(?P<path>[^:\n]+):(?:(?P<line>\d+):)? (?P<message>.*)", re.DOTALL)


def run_lint(
    root: Path,
    cache: Path,
    jobs: int = 1,
    surroundings: Surroundings | None = None,
    *,
    only: Collection[str] = (),
    done: Callable[[str], None] = lambda _: None,
) -> list[LintFinding]:
    """Everything wrong with the dataset in folder `root`, sorted by file and line; empty if it is sound.

    `cache` holds built trees and the findings of unchanged cases; `jobs` is the number of processes. With `only`, just
    these cases and their codebases are checked, and of the whole dataset's faults those that concern them are kept.
    `done` is told the name of each case and codebase that has been checked. Raises nothing about the dataset: what
    cannot be loaded is a finding of the check `schema`.
    """
    layout = Layout(root)
    cases, findings = _load(layout)
    findings += _checked(_tasks(cases, layout, cache, only), jobs, done)
    corpus = Corpus(cases, layout, surroundings or Surroundings(), cache)
    findings += _across(CORPUS_CHECKS, corpus)
    findings += _across(OWN_CORPUS_CHECKS, corpus.own())
    findings += _across(WRITTEN_CORPUS_CHECKS, corpus.own(released=False))
    findings += _across(RELEASED_CORPUS_CHECKS, corpus.own(released=True))
    wanted = {*only, *(str(cases[name].labels.codebase) for name in only if name in cases)}
    return sorted(finding for finding in findings if not only or finding.case in wanted)


def not_run_here(root: Path, only: Collection[str] = ()) -> dict[str, Codebase]:
    """The cases whose released packages do not run on this Python, so that nobody has proved them here.

    Raises nothing: what cannot be read is a finding of `run_lint`."""
    layout, found = Layout(root), {}
    for folder in layout.codebases.glob("[!.]*"):
        with suppress(DatasetError):
            code = load_codebase(folder)
            if not code.runs_here:
                found[folder.name] = code
    cases = {}
    for case_id in (only or case_ids(root)) if found else ():
        with suppress(DatasetError):
            labels = read_labels(layout.labels(case_id))
            if labels.codebase in found:
                cases[case_id] = found[labels.codebase]
    return cases


def check(task: Task) -> list[LintFinding]:
    """The findings of one case or codebase, looked for anew and remembered."""
    if isinstance(task, Package):
        found = _asked(CODEBASE_CHECKS if task.ours else RELEASED_CODEBASE_CHECKS, task, task.id)
    elif task.released:
        found = _asked((*CASE_CHECKS, *RELEASED_CASE_CHECKS), task, task.id)
        if task.fetched:
            proofs = PROVED_CASE_CHECKS if task.runs_here else UNRUN_CASE_CHECKS
            found += _asked((*FETCHED_CASE_CHECKS, *proofs), task, task.id)
    else:
        found = _asked(CASE_CHECKS, task, task.id)
        found += _asked(_checks_of(task), task, task.id)
    remember(task.cache, name_of(task.cache, task.rests_on), task.root, found)
    return found


def _checks_of(task: LintedCase) -> tuple[CaseCheck, ...]:
    """The table for a case of its kind, beside the checks for every case."""
    if task.imported:
        return ()
    if task.from_git:
        return GIT_CASE_CHECKS
    return JOB_CASE_CHECKS if task.was_a_job else OWN_CASE_CHECKS


def _load(layout: Layout) -> tuple[dict[str, Case], list[LintFinding]]:
    cases: dict[str, Case] = {}
    findings: list[LintFinding] = []
    ids = case_ids(layout.root)
    if not ids:
        findings.append(LintFinding(ALL, "schema", "there are no cases", str(layout.cases)))
    try:
        policy = load_policy(layout.policy)
    except DatasetError as error:
        return {}, [*findings, _schema_finding(ALL, error, layout)]
    for case_id in ids:
        try:
            cases[case_id] = load_case(layout.root, case_id, policy)
        except DatasetError as error:
            findings.append(_schema_finding(case_id, error, layout))
    return cases, findings


def _tasks(cases: Mapping[str, Case], layout: Layout, cache: Path, only: Collection[str]) -> list[Task]:
    chosen = [case for case in cases.values() if not only or case.id in only]
    named = {case.labels.codebase for case in chosen if case.labels.codebase}
    names = named if only else named | {path.name for path in layout.codebases.glob("[!.]*") if path.is_dir()}
    packages = [Package(name, layout.codebase(name), cache) for name in sorted(names)]
    return [*packages, *(LintedCase(case, layout, cache) for case in chosen)]


def _checked(tasks: Iterable[Task], jobs: int, done: Callable[[str], None]) -> list[LintFinding]:
    """The findings of all tasks, remembered ones first; what is new is shared out among processes."""
    findings: list[LintFinding] = []
    new: list[Task] = []
    for task in tasks:
        known = recall(task.cache, name_of(task.cache, task.rests_on), task.root)
        if known is None:
            new.append(task)
        else:
            findings += known
            done(task.id)
    for name, found in _at_once(new, jobs):
        findings += found
        done(name)
    return findings


def _at_once(tasks: list[Task], jobs: int) -> Iterator[tuple[str, list[LintFinding]]]:
    if jobs <= 1 or len(tasks) < 2:
        yield from ((task.id, check(task)) for task in tasks)
        return
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=multiprocessing.get_context("spawn")) as pool:
        parts = {pool.submit(check, task): task.id for task in tasks}
        yield from ((parts[part], part.result()) for part in as_completed(parts))


def _across(checks: Iterable[Callable[[Corpus], Iterable[Complaint]]], corpus: Corpus) -> list[LintFinding]:
    return _asked(checks, corpus, ALL)


def _asked(
    checks: Iterable[Callable[[Looked], Iterable[Complaint]]], looked_at: Looked, name: str
) -> list[LintFinding]:
    return [_finding(complaint, check.__name__, name) for check in checks for complaint in check(looked_at)]


def _finding(complaint: Complaint, check: str, name: str) -> LintFinding:
    return LintFinding(complaint.case or name, check, complaint.message, str(complaint.path), complaint.line)


def _schema_finding(case_id: str, error: DatasetError, layout: Layout) -> LintFinding:
    located = _LOCATED.match(str(error))
    if located is None:
        return LintFinding(case_id, "schema", str(error), str(layout.cases))
    path, line, message = located.group("path", "line", "message")
    return LintFinding(case_id, "schema", message, path, int(line or 1))

"""Runs every check on every case: in parallel, and only where something changed since the last time."""

import hashlib
import multiprocessing
import os
import re
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cache as once
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

import evals
from evals.dataset.checks import CASE_CHECKS, CORPUS_CHECKS
from evals.dataset.checks.proof import codebase_tests_pass
from evals.dataset.codebase import build_tree, tree_digest
from evals.dataset.finding import Complaint, Corpus, LintFinding, Subject, Surroundings
from evals.dataset.layout import Layout
from evals.dataset.load import case_ids, load_case
from evals.dataset.policy import load_policy
from evals.errors import DatasetError
from evals.models.case import Case

ALL: Final = "(all)"
_LOCATED: Final = re.compile(r"(?P<path>[^:\n]+):(?:(?P<line>\d+):)? (?P<message>.*)", re.DOTALL)


def run_lint(root: Path, cache: Path, jobs: int = 1, surroundings: Surroundings | None = None) -> list[LintFinding]:
    """Everything wrong with the dataset in folder `root`, sorted by case and check; empty if it is sound.

    `cache` holds built trees and the findings of unchanged cases; `jobs` is the number of processes. Raises nothing
    about the dataset: what cannot be loaded is a finding of the check `schema`.
    """
    layout = Layout(root)
    cases, findings = _load(layout)
    findings += _case_findings(cases, layout, cache, jobs)
    corpus = Corpus(cases, layout, surroundings or Surroundings())
    for check in CORPUS_CHECKS:
        findings += [_finding(complaint, check.__name__) for complaint in check(corpus)]
    return sorted(findings)


def checks_left_out(surroundings: Surroundings) -> list[str]:
    """Names of the checks that cannot run without something the caller did not give."""
    needs = {
        "routes_are_possible": surroundings.edges,
        "point_states_are_valid": surroundings.validate_state,
        "gold_not_in_prompts": surroundings.prompts,
    }
    return [name for name, given in needs.items() if given is None]


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


def _case_findings(cases: dict[str, Case], layout: Layout, cache: Path, jobs: int) -> list[LintFinding]:
    codebases = sorted({case.labels.codebase for case in cases.values()})
    if jobs <= 1:
        found = [lint_case(case, layout, cache) for case in cases.values()]
        found += [lint_codebase(name, layout, cache) for name in codebases]
        return [finding for part in found for finding in part]
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        parts = [pool.submit(lint_case, case, layout, cache) for case in cases.values()]
        parts += [pool.submit(lint_codebase, name, layout, cache) for name in codebases]
        return [finding for part in parts for finding in part.result()]


def lint_case(case: Case, layout: Layout, cache: Path) -> list[LintFinding]:
    """The findings of one case, from the cache if neither the case nor a check has changed."""
    subject = Subject(case, layout, cache)
    rests_on = [
        str(subject.labels_path).encode(),
        case.digest.encode(),
        subject.labels_path.read_bytes(),
    ]  # the last for its lines
    rests_on += [path.read_bytes() if path else b"(none)" for path in (subject.patch, subject.repro)]
    return _cached(cache, rests_on, lambda: _check_case(subject))


def lint_codebase(name: str, layout: Layout, cache: Path) -> list[LintFinding]:
    """The findings of one codebase: do its own tests pass?"""
    clean = layout.codebase(name)
    return _cached(
        cache,
        [b"codebase", str(clean).encode(), tree_digest(clean).encode()],
        lambda: [
            _finding(complaint, "codebase_tests_pass", name)
            for complaint in codebase_tests_pass(build_tree(clean, None, cache), clean)
        ],
    )


def _check_case(subject: Subject) -> list[LintFinding]:
    return [_finding(complaint, check.__name__, subject.id) for check in CASE_CHECKS for complaint in check(subject)]


def _finding(complaint: Complaint, check: str, case_id: str = "") -> LintFinding:
    case = complaint.case or case_id or ALL
    return LintFinding(case, check, complaint.message, str(complaint.path), complaint.line)


def _schema_finding(case_id: str, error: DatasetError, layout: Layout) -> LintFinding:
    located = _LOCATED.match(str(error))
    if located is None:
        return LintFinding(case_id, "schema", str(error), str(layout.cases))
    path, line, message = located.group("path", "line", "message")
    return LintFinding(case_id, "schema", message, path, int(line or 1))


def _cached(cache: Path, rests_on: Iterable[bytes], compute: Callable[[], list[LintFinding]]) -> list[LintFinding]:
    """What was found last time about the very same bytes by the very same checks, else what is found now."""
    parts = [_code_digest(), sys.version.encode(), *rests_on]
    name = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    memory = cache / "lint" / f"{name}.json"
    if memory.exists():
        return TypeAdapter(list[LintFinding]).validate_json(memory.read_bytes())
    found = compute()
    memory.parent.mkdir(parents=True, exist_ok=True)
    scratch = memory.with_suffix(f".{os.getpid()}")
    scratch.write_bytes(TypeAdapter(list[LintFinding]).dump_json(found))
    scratch.replace(memory)  # whole or not at all: a torn file would be taken for what was found
    return found


@once
def _code_digest() -> bytes:
    """Over everything the checks are made of, so that a changed check forgets what the old one found."""
    package = Path(evals.__file__).parent
    files = sorted(file for part in ("dataset", "routes", "models") for file in (package / part).rglob("*.py"))
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).digest()

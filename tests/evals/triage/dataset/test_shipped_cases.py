"""The cases that are shipped: every bug is there when it is in, gone when it is out, and lint has nothing to say."""

from pathlib import Path

import pytest

from evals.triage.dataset.case_code import build_tree
from evals.triage.dataset.checks.codebase_checks import run_python
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.lint_dataset import ALL, run_lint
from evals.triage.dataset.load_cases import case_ids, read_labels
from evals.triage.variant_graph import surroundings
from tests.builders.shipped import every

ROOT = Path(__file__).parents[4]
CACHE = ROOT / ".cache"  # lint's own: a tree that was built there need not be built again
LAYOUT = Layout(ROOT / "datasets")
PATCHED = [case for case in case_ids(LAYOUT.root) if LAYOUT.patch(case).exists()]
FIRST = {case.partition("-")[0]: case for case in reversed(PATCHED)}
"""A case of each codebase."""

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("case", PATCHED if every() else sorted(FIRST.values()))
def test_the_bug_is_in_the_patch_and_nowhere_else(case):
    clean = LAYOUT.codebase(str(read_labels(LAYOUT.labels(case)).codebase))
    patched, without = (build_tree(clean, patch, CACHE) for patch in (LAYOUT.patch(case), None))

    assert run_python(patched, LAYOUT.repro(case)).code not in (0, None)
    assert run_python(without, LAYOUT.repro(case)).code == 0


def test_the_shipped_dataset_is_sound():
    """One case of each codebase, and what is checked of the whole. `.ci/run` lints all cases."""
    only = () if every() else (*FIRST.values(), ALL)

    found = run_lint(LAYOUT.root, CACHE, surroundings=surroundings(), only=only)
    assert [str(finding) for finding in found] == []

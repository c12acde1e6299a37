"""Mutants: every guard, every move of a task and every signal of the rules is taken out once; and those of the core.

A mutant is named by what it takes out, not by a line, so it moves with the code; one that no longer fits is an error.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.mutation.core_mutants import CORE

GUARD_TESTS: Final = tuple(
    f"triage/test_{name}.py" for name in ("guards", "guard_table", "settled_contradictions", "graph")
)
REGISTRY_TESTS: Final = ("triage/test_registry_guards.py", "triage/test_guard_table.py")
PLAN_TESTS: Final = ("triage/supervisors/plan", "triage/test_plan_graph.py")
RULES_TESTS: Final = ("triage/supervisors/rules",)

HARDENED, SETS = (f"triage/guards/{name}.py" for name in ("guards", "guard_sets"))
STATUS, DECIDE = "triage/supervisors/plan/plan_progress.py", "triage/supervisors/rules/rules_supervisor.py"
SIGNALS = "triage/supervisors/rules/rules_signals.py"

# What is taken out, where, the code as it stands, and as it stands without.
REPAIRS: Final = (
    (
        "the floor is silent",
        HARDENED,
        "fresh) if fresh else None\n\n    return",
        "fresh) if False else None\n\n    return",
    ),
    ("the floor stands last", SETS, "if guard not in last), floor, *last)", "if guard not in last), *last, floor)"),
    (
        "questions speak before the limit",
        HARDENED,
        "iteration_limit,\n    question_limit",
        "question_limit,\n    iteration_limit",
    ),
    (
        "forced: skips the investigator",
        HARDENED,
        'untouched and choice != "investigator"',
        'untouched and choice != "investigator" and not state.forced_fallback',
    ),
    ("forced: bound by a rejection", HARDENED, "not state.forced_fallback and _rejection_binds", "_rejection_binds"),
    ("forced: bound by the floor", HARDENED, "or state.forced_fallback or", "or"),
    ("`end` slips past a rejection", HARDENED, 'or (choice == "end" and state.report is None)', ""),
    ("a rejection binds for good", HARDENED, "<= verdict.evidence_seen", ">= 0"),
    ("a guard sends to a broken agent", HARDENED, "< MAX_FAILURES", "< 99"),
    ("a report is written again at the limit", HARDENED, '"end" if done else "writer"', '"writer"'),
    (
        "overruled questions stay",
        "triage/guards/guards.py",
        "drops_overruled_question: bool = True",
        "drops_overruled_question: bool = False",
    ),
    (
        "the writer does not end",
        "triage/guards/guards.py",
        "writer_ends: bool = True",
        "writer_ends: bool = False",
    ),
)


@dataclass(frozen=True)
class Mutant:
    """One change of one file, and the tests below `tests/` that ought to notice."""

    label: str
    path: str
    change: Callable[[str], str]
    tests: tuple[str, ...]


def mutants(checkout: Path) -> Iterator[Mutant]:
    """All of them."""
    for path, table, tests in (
        (SETS, "PRD", GUARD_TESTS),
        (HARDENED, "HARDENED", GUARD_TESTS),
        (SETS, "REGISTRY_GUARDS", REGISTRY_TESTS),
        (DECIDE, "RULES", RULES_TESTS),
    ):
        text = (checkout / path).read_text(encoding="utf-8")
        for entry in _entries(checkout / path, table):
            if f"def {entry}(" not in text:  # one that another set has: it is mutated there
                continue
            yield Mutant(f"{table}: {entry} never speaks", path, partial(_silenced, name=entry), tests)
    for label, path, old, new in REPAIRS:
        yield Mutant(label, path, partial(_replaced, old=old, new=new), GUARD_TESTS)
    for table, path, tests in (
        ("MOVES", STATUS, PLAN_TESTS),
        ("RUNNABLE", STATUS, PLAN_TESTS),
        ("SUPERVISORS", STATUS, PLAN_TESTS),
        ("REVIEWED", STATUS, PLAN_TESTS),
        ("REASONS", SIGNALS, RULES_TESTS),
    ):
        for entry in _entries(checkout / path, table):
            yield Mutant(f"{table} without {entry}", path, partial(_without, table=table, entry=entry), tests)
    for label, path, old, new, tests in CORE:
        yield Mutant(label, path, partial(_replaced, old=old, new=new), tests)


def _entries(path: Path, table: str) -> list[str]:
    """The entries of a table of constants, as they are named below."""
    return [name for name, _, _ in _listed(ast.parse(path.read_text(encoding="utf-8")), table)]


def _listed(tree: ast.Module, table: str) -> list[tuple[str, list[ast.expr], ast.expr]]:
    """Each entry of `table` by name, with the list it stands in; of a mapping to sets, each element of each set."""
    value = next(node.value for node in tree.body if isinstance(node, ast.AnnAssign) and _named(node) == table)
    if isinstance(value, ast.Dict):
        return [
            (f"{ast.literal_eval(key)} -> {name}", among, entry)
            for key, moves in zip(value.keys, value.values, strict=True)
            for name, among, entry in _members(moves)
        ]
    return _members(value)


def _members(value: ast.expr | None) -> list[tuple[str, list[ast.expr], ast.expr]]:
    if isinstance(value, ast.Call):  # frozenset({...}), or frozenset() of nothing
        return _members(value.args[0]) if value.args else []
    assert isinstance(value, ast.Tuple | ast.Set)
    return [(_name_of(entry), value.elts, entry) for entry in value.elts]


def _name_of(entry: ast.expr) -> str:
    first = entry.elts[0] if isinstance(entry, ast.Tuple) else entry
    return str(first.value) if isinstance(first, ast.Constant) else ast.unparse(first)


def _named(node: ast.AnnAssign) -> str:
    return node.target.id if isinstance(node.target, ast.Name) else ""


def _without(source: str, table: str, entry: str) -> str:
    """The file with one entry of a table left out."""
    tree = ast.parse(source)
    among, gone = next((among, node) for name, among, node in _listed(tree, table) if name == entry)
    among.remove(gone)
    return ast.unparse(ast.fix_missing_locations(tree)).replace("frozenset({*()})", "frozenset()")


def _silenced(source: str, name: str) -> str:
    """The file with one rule saying nothing, whatever the state."""
    tree = ast.parse(source)
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    found.body = [ast.Return(ast.Constant(None))]
    return ast.unparse(ast.fix_missing_locations(tree))


def _replaced(source: str, old: str, new: str) -> str:
    if source.count(old) != 1:
        raise LookupError(f"{old!r} stands there {source.count(old)} times, not once: mend this mutant")
    return source.replace(old, new)

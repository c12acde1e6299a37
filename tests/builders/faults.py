"""Ways to spoil a sound dataset (`tests.builders.dataset.a_sound_dataset`), for the tests of lint.

A plant is a function of the dataset's folder; those with arguments return one.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triage.prompts
from evals.triage.dataset.dataset_layout import Layout
from tests.builders.dataset import (
    ISSUE,
    PATCH,
    a_case_file,
    a_case_folder,
    a_page,
    a_question_case,
    a_wish,
    relabel,
    write,
)

BUG, ASK = "wrong-total", "which-region"
LABELS, ISSUE_MD = f"triage/cases/{BUG}/case.yaml", f"triage/cases/{BUG}/issue.md"
BUG_PATCH, REPRO_PY = f"triage/cases/{BUG}/bug.patch", f"triage/cases/{BUG}/repro.py"
ASK_LABELS = f"triage/cases/{ASK}/case.yaml"
COPY, COPY_ISSUE = "triage/cases/copy/case.yaml", "triage/cases/copy/issue.md"
WHOLE = "triage/cases"
LOCKING = "web/locking.md"
SHOP = "codebases/shop"
A_PROMPT = next(Path(triage.prompts.__file__).parent.rglob("*.md"))
ROUTE = a_case_file()["route"][0]
ANSWER = {"topic": "region", "keywords": ["region", "country", "where", "tax", "state"], "answer": "Norway."}
POINT: dict[str, Any] = {"id": "p", "state": {}, "accept": {"investigator": 1.0}, "why": "The investigator is first."}
FOUND = {"agent_name": "investigator", "summary": "s", "confidence": 0.5, "details": "d"}
REJECTED = {"verdict": "REJECTED", "confidence": 0.4}
SEEN: dict[str, Any] = {"visits": ["investigator"], "iterations": 1, "findings": [FOUND]}
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
WEB_ROUTE = ROUTE | {
    "constraints": [
        {"id": "end", "type": "end", "a": ["writer"], "w": 2, "hard": True},
        {"id": "must", "type": "existence", "a": ["web_search"], "min": 1, "w": 2, "hard": True, "proof": ["page"]},
        {"id": "never", "type": "existence", "a": ["human_input"], "max": 0, "w": 2, "hard": True},
    ],
    "exemplars": [["investigator", "web_search", "critic", "writer"]],
}
ADDRESS = "someone@" + "mailhost.org"
A_KEY = "sk-" + "a1B2" * 6  # put together here, so that no file holds one
A_REGISTRY = "py" + "pi.org"
GREEK = "λάθος σύνολο στο καλάθι\n\nβλέπω μόνο την τιμή του δεύτερου βιβλίου, το πρώτο λείπει.\n"


@dataclass(frozen=True)
class Fault:
    """What is done to the dataset, who should notice, and what stands on the line it should be reported at."""

    check: str
    plant: Any
    file: str
    on_line: str = ""


def bug(**changes):
    return lambda root: relabel(root, a_case_file(**changes))


def ask(**changes):
    return lambda root: relabel(root, a_question_case(**changes))


def bug_route(**changes):
    return bug(route=[ROUTE | changes])


def without(constraint_id):
    return bug_route(constraints=[each for each in ROUTE["constraints"] if each["id"] != constraint_id])


def demand(**rule):
    """One hard constraint more, called extra: a visit of the code search unless told otherwise."""
    extra = {"id": "extra", "type": "existence", "a": ["codebase_search"], "hard": True, **rule}
    return bug_route(constraints=[*ROUTE["constraints"], extra])


def point(state=None, **changes):
    return bug(decision_points=[POINT | {"state": state or {}} | changes])


def bug_file(name, text):
    return lambda root: write(root / "triage" / "cases" / BUG / name, text)


def shop_file(name, text):
    return lambda root: write(root / SHOP / name, text)


def page(**about):
    return lambda root: a_page(root, **about)


def labels_text(replace, by):
    def plant(root):
        path = Layout(root).labels(BUG)
        write(path, path.read_text(encoding="utf-8").replace(replace, by, 1))

    return plant


def missing(*names):
    return lambda root: [(root / name).unlink() for name in names]


def a_copy(root, issue=ISSUE, patch=PATCH, **changes):
    a_case_folder(root, a_case_file(**{"id": "copy", "split": "tune", **changes}), issue=issue, patch=patch)


def copied(**changes):
    return lambda root: a_copy(root, **changes)


def twins(issue=ISSUE, patch=PATCH, mine=None, **changes):
    """The bug and a copy of it under one pair_id; `mine` changes the bug's own labels."""

    def plant(root):
        relabel(root, a_case_file(**{"pair_id": BUG, **(mine or {})}))
        a_copy(root, issue, patch, **{"pair_id": BUG, **changes})

    return plant


def both(*plants):
    return lambda root: [plant(root) for plant in plants]


def wishes(number, split="tune", **changes):
    return lambda root: [a_wish(root, each, split, **changes) for each in range(number)]


def many_points(root):
    wished = {"decision_points": [POINT | {"id": f"p{number}"} for number in range(35)]}
    for number in range(2):
        a_wish(root, number, **wished)


def two_labels_for_one_state(root):
    relabel(root, a_case_file(decision_points=[POINT | {"state": SEEN, "accept": {"codebase_search": 1.0}}]))
    relabel(root, a_question_case(decision_points=[POINT | {"state": SEEN, "accept": {"web_search": 1.0}}]))


def a_small_shop(root):
    for path in (root / SHOP / "shop").glob("prices_*.py"):
        path.unlink()


TODO = "TODO(author)"
FAILING_TEST = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.fail()\n"

"""Dossiers, originals and answers of a judge, for tests."""

from collections.abc import Mapping
from typing import Any

from evals.llm_judge.judge_questions import JudgeQuestion, JudgeReply
from evals.triage.judge.dossier import Dossier, JudgedFinding, Written
from evals.triage.judge.planted_defects import Original
from evals.triage.judge.triage_rubric import RubricAnswer

COMMENT = """Thank you for the report. This is an automated triage.

### Likely root cause

`total` in `shop/cart.py` leaves out the last line. The findings are quite sure (90 %).

### Files concerned

- `shop/cart.py`: `total`

### Next steps

- Let the loop run to the end.
- Add a test with two lines.

This comment was written automatically."""
BEST = {
    "root_cause": "same",
    "faithful": "supported",
    "actionable": "ready",
    "comment": "fine",
    "severity": "fits",
}


def a_written(**fields: Any) -> Written:
    """A good report of a sum that is wrong."""
    return Written.model_validate(
        {
            "root_cause": "total leaves out the last line of a cart, so the sum is too low.",
            "location": "shop/cart.py::total",
            "category": "code",
            "severity": "HIGH",
            "files": ("shop/cart.py",),
            "evidence": ("The loop ends one too early", "It is not shown who calls it", "Two lines cost as one"),
            "next_steps": ("Let the loop run to the end", "Add a test with two lines"),
            "confidence": 0.9,
            "comment": COMMENT,
            "ticket": "Sum all lines of a cart",
            "labels": ("bug", "cart"),
            **fields,
        }
    )


def a_dossier(**fields: Any) -> Dossier:
    """All a judge is shown of it."""
    finding = JudgedFinding(
        agent="codebase_search", summary="total stops early.", details="shop/cart.py::total", confidence=0.9
    )
    return Dossier.model_validate(
        {
            "title": "The sum is wrong",
            "body": "Two books cost as much as one.",
            "findings": (finding,),
            "answers": (),
            "written": a_written(),
            "cause": "The loop over the lines ends one too early.",
            **fields,
        }
    )


def an_original(case_id: str = "wrong-sum", **fields: Any) -> Original:
    """A report that rules can break."""
    told: dict[str, Any] = {
        "cluster": case_id,
        "repository": "example/shop",
        "category": "code",
        "severity_right": True,
        "code_files": ("shop/cart.py", "shop/stock.py", "shop/till.py"),
        "dossier": a_dossier(),
        **fields,
    }
    return Original(case_id, **told)


def an_answer(**grades: str) -> RubricAnswer:
    """The best grades but for those given."""
    return RubricAnswer.model_validate(
        {
            "root_cause_quote": "total leaves out",
            "root_cause_reason": "It is that.",
            "unsupported_quotes": [],
            "faithful_reason": "All found.",
            "actionable_quote": "Let the loop run",
            "actionable_reason": "Concrete.",
            "comment_quote": "",
            "comment_reason": "Polite.",
            "severity_reason": "A main function.",
            **BEST,
            **grades,
        }
    )


def heard(questions: Mapping[JudgeQuestion, RubricAnswer | None]) -> dict[JudgeQuestion, JudgeReply]:
    """What came of each question: its answer, or nothing."""
    return {question: JudgeReply(question, answer) for question, answer in questions.items()}

"""Scorers as LangSmith evaluators."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from langsmith.schemas import Example, Run

from evals.errors import ConfigurationError
from evals.langsmith.dataset_sync import CASE
from evals.models.case import Case
from evals.models.metrics import Failed, Scored, Skipped
from evals.models.trace import Trace
from evals.scoring.registry import scorers
from evals.scoring.scorer import Scorer, score
from evals.workspace import Workspace

TRACE: Final = "trace"
"""The member of a target's outputs that scorers read."""
HERE: Final = Path()
Evaluator = Callable[[Run, Example | None], dict[str, Any]]


def evaluators(names: Sequence[str] = (), *, root: Path = HERE, dataset: Path | None = None) -> list[Evaluator]:
    """One evaluator for each of our scorers, or those named, under our keys. They score the trace in the outputs,
    by the labels of the case an example was made of. A score that does not apply is none, not 0.

    Args:
        names: names of scorers, such as `route.pass`; all if there are none.
        root: the checkout whose dataset the examples were made of.
        dataset: another dataset of the checkout, by folder or name.

    Raises:
        ConfigurationError: no scorer of that name, or no dataset there. DatasetError: it is wrong.
    """
    known = {scorer.name: scorer for scorer in scorers()}
    if odd := [name for name in names if name not in known]:
        raise ConfigurationError(f"no scorer is called {odd[0]!r}; docs/metrics.md lists them")
    workspace = Workspace.at(root, dataset)
    cases = workspace.pack.load_cases(workspace.datasets)
    return [_evaluator(scorer, cases) for scorer in scorers() if not names or scorer.name in names]


def _evaluator(scorer: Scorer, cases: dict[str, Case]) -> Evaluator:
    def evaluate(run: Run, example: Example | None) -> dict[str, Any]:
        case = _case_of(example, cases)
        told = (run.outputs or {}).get(TRACE)
        if told is None:
            raise ConfigurationError("the target's outputs have no `trace` (form of run.json): add one")
        return {"results": _results(scorer, case, Trace.model_validate(told))}

    evaluate.__name__ = scorer.name
    evaluate.__doc__ = scorer.definition
    return evaluate


def _results(scorer: Scorer, case: Case, trace: Trace) -> list[dict[str, Any]]:
    match score(scorer, case, trace):
        case Scored(value=value):
            return [{"key": scorer.name, "score": value}]
        case Failed(error=error):
            raise RuntimeError(error)  # the SDK makes it feedback that says so
        case Skipped():
            return []


def _case_of(example: Example | None, cases: dict[str, Case]) -> Case:
    name = str(((example.metadata if example else None) or {}).get(CASE, ""))
    if name not in cases:
        raise ConfigurationError(f"the example is of no case here ({name or 'it names none'}): push the dataset first")
    return cases[name]

"""Baselines as a suite's history has them, and the files of the commits they stand in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.builders.dataset import write
from tests.builders.git import committed, git

NODES = ("codebase_search", "critic", "writer", "web_search")
POINTS = range(len(NODES))


@dataclass(frozen=True)
class State:
    """What a baseline is of: route.pass by variant and case, and everything that may change beside it."""

    passes: Mapping[str, Mapping[str, float]]
    suite: str = "prompts"
    labels: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    scorers: str = "scorers-1"
    guards: str = "hardened"
    answered_by: Mapping[str, str] = field(default_factory=dict)
    grades: Mapping[str, float] = field(default_factory=dict)

    @property
    def cases(self) -> Sequence[str]:
        """Every case of some variant, in order."""
        return sorted({case for scores in self.passes.values() for case in scores})

    def but(self, variant: str, scores: Mapping[str, float]) -> "State":
        """The same with other scores of some cases under one variant."""
        return replace(self, passes={**self.passes, variant: {**self.passes[variant], **scores}})


def a_state(**changes) -> State:
    """Two variants on three cases, of which c fails."""
    passes = {"v1": {"a": 1.0, "b": 1.0, "c": 0.0}, "v5": {"a": 1.0, "b": 1.0, "c": 0.0}}
    return replace(State(passes), **changes)


def files_of(state: State) -> dict[str, str]:
    """Path -> text of all files of a commit that blesses it."""
    return {
        f"evals/suites/baselines/{state.suite}.json": json.dumps(baseline_of(state), indent=1, sort_keys=True) + "\n",
        f"evals/suites/{state.suite}.yaml": suite_of(state),
        **{f"datasets/triage/cases/{case}/case.yaml": case_of(state, case) for case in state.cases},
    }


def baseline_of(state: State) -> dict[str, object]:
    """The baseline as JSON; half of the scores are there only because a real one has as many."""
    names = list(state.passes)
    return {
        "content_sha256": "0" * 64,
        "suite": state.suite,
        "scorers": state.scorers,
        "topology": dict.fromkeys(names, "topology-1"),
        "cases": {case: f"{case}-{state.labels.get(case, '1')}" for case in state.cases},
        "prompts": {name: state.prompts.get(name, f"{name}-1") for name in names},
        "prompt_lines": {},
        "values": {
            name: {case: _scores(state, case, score) for case, score in scores.items()}
            for name, scores in state.passes.items()
        },
        "states": {
            name: {case: {f"point-{number}": _grade(state, case, number) for number in POINTS} for case in scores}
            for name, scores in state.passes.items()
        },
        "hard_violations": {name: {} for name in names},
        "leaks": {name: [] for name in names},
        **(
            {"answered_by": {name: {"supervisor": {model: []}} for name, model in state.answered_by.items()}}
            if state.answered_by
            else {}
        ),
        "routes": {
            name: {case: {"0": "investigator codebase_search critic writer end"} for case in state.cases}
            for name in names
        },
    }


def _scores(state: State, case: str, passed: float) -> dict[str, float]:
    others = ("alignment", "efficiency", "fitness", "precision", "score")
    return {
        "route.pass": passed,
        "root_cause.hit": 1.0,
        "decision.score": sum(_grade(state, case, number) for number in POINTS) / len(POINTS),
        "cost.visits": 4.0 + (1 - passed),
        "cost.llm_calls": 10.0 + 2 * (1 - passed),
        "cost.tokens": 8000.0 + 500 * (1 - passed),
        **{f"route.{name}": 0.7 + 0.3 * passed for name in others},
        **dict.fromkeys(("severity.exact", "severity.within_one", "severity.under_triage", "root_cause.category"), 1.0),
        **dict.fromkeys(("ask.false", "cost.questions", "cost.vetoes", "confidence.brier", "confidence.report"), 0.0),
    }


def _grade(state: State, case: str, number: int) -> float:
    """The second state is as good as the case is said to be, the others are right."""
    return state.grades.get(case, 1.0) if number == 1 else 1.0


def suite_of(state: State) -> str:
    """The suite's file."""
    variants = "".join(f"  - {{name: {name}, prompt: {name}, guards: {state.guards}}}\n" for name in state.passes)
    *_, last = state.passes
    return f"name: {state.suite}\nvariants:\n{variants}candidate: {last}\n"


def case_of(state: State, case: str) -> str:
    """The labels of a case, as far as a history reads them."""
    points = "".join(
        f"  - {{id: point-{number}, accept: {{{node}: 1.0, end: 0.5}}}}\n" for number, node in enumerate(NODES)
    )
    return f"id: {case}\n# labels {state.labels.get(case, '1')}\ndecision_points:\n{points}"


def a_repository(folder: Path) -> Path:
    """An empty repository on branch `main`, with the folders of a checkout."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    write(folder / "datasets" / "triage" / "policy.yaml", "")
    return folder


def blessed(folder: Path, state: State, message: str = "bless") -> str:
    """A commit that blesses the state; its sha."""
    for path, text in files_of(state).items():
        write(folder / path, text)
    committed(folder, message)
    return head(folder)


def head(folder: Path) -> str:
    """The sha of the last commit."""
    return git(folder, "rev-parse", "HEAD").stdout.strip()

"""How much of the dataset a run is about, said out loud: what is not in a number must not look as if it were."""

from dataclasses import dataclass

from evals.models.run import Run, Scope


@dataclass(frozen=True)
class ScopeView:
    """One sentence, and the cases it leaves out by name."""

    sentence: str
    unrecorded: tuple[str, ...]
    sealed: tuple[str, ...]


def scope_view(run: Run) -> ScopeView | None:
    """None for a run that does not know its dataset."""
    scope = run.scope
    return None if scope is None else ScopeView(in_words(scope), scope.unrecorded, scope.sealed)


def in_words(scope: Scope) -> str:
    """The sentence of terminal, Markdown and report."""
    parts = [f"{scope.selected} of the dataset's {scope.cases} cases are in this run"]
    if scope.unrecorded:
        parts.append(f"{len(scope.unrecorded)} of the {scope.cases} have no recording yet")
    if scope.sealed:
        parts.append(f"{len(scope.sealed)} of the suite's cases are held out")
    parts.append(f"the holdout has {_opened(scope.openings)}")
    return "; ".join(parts) + "."


def _opened(count: int) -> str:
    return {0: "never been opened", 1: "been opened once"}.get(count, f"been opened {count} times")

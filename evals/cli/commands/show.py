"""`evals dataset show`: one case, readable."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from rich.console import Console
from rich.text import Text

from evals.cli.terminal.console import VisibleConsole
from evals.dataset.layout import Layout
from evals.dataset.load import case_ids, load_case
from evals.dataset.policy import load_policy
from evals.errors import EXIT_OK, ConfigurationError
from evals.models.case import Case, DecisionPoint
from evals.models.route import RouteAlternative
from evals.report.inert import visible
from evals.workspace import Workspace

SHOWN_CHARACTERS = 6_000  # of an issue; a huge log is not read in a terminal


def show(
    case_id: str, root: Path, dataset: Path | None = None, *, patch: bool = False, console: Console | None = None
) -> int:
    """Print issue and labels of one case, with `patch` its diff too. Returns 0.

    Raises:
        ConfigurationError: there is no such case.
        DatasetError: it cannot be loaded.
    """
    layout = Layout(Workspace.at(root, dataset).datasets)
    if case_id not in case_ids(layout.root):
        raise ConfigurationError(f"{case_id}: there is no such case; `evals dataset stats --json` counts what there is")
    case = load_case(layout.root, case_id, load_policy(layout.policy))
    console = console or VisibleConsole(highlight=False, soft_wrap=True)
    issue = (case.title, ["", *_shortened(case.body).splitlines(), ""])
    for heading, lines in (issue, *_sections(case, layout, diff=patch)):
        console.print(Text(visible(heading), style="bold"))
        console.print(Text(visible(indent("\n".join(lines), "  "))))
    return EXIT_OK


def _sections(case: Case, layout: Layout, *, diff: bool) -> Iterator[tuple[str, list[str]]]:
    labels = case.labels
    yield "labels", _labels(case)
    yield (
        "root cause",
        [labels.root_cause, *(f"gold: {place}" for place in (*labels.gold.files, *labels.gold.functions))],
    )
    for number, alternative in enumerate(case.route_spec.alternatives, 1):
        yield f"route {number} of {len(case.route_spec.alternatives)}", list(_route(alternative))
    if labels.question.answers:
        yield "what the user knows", [f"{answer.topic}: {answer.answer}" for answer in labels.question.answers]
    if labels.decision_points:
        yield "decision points", [line for point in labels.decision_points for line in _point(point)]
    if labels.web:
        yield "pages", [f"{page}.md" for page in labels.web]
    path = layout.patch(case.id)
    if path.exists():
        text = path.read_text(encoding="utf-8")
        yield "patch", text.splitlines() if diff else [_counted(text)]


def _labels(case: Case) -> list[str]:
    labels = case.labels
    facts = {
        "case": f"{labels.id} ({case.repository})",
        "kind": f"{labels.archetype}, {labels.category}, {labels.severity}, {labels.split}",
        "question": labels.question.policy,
        "tags": ", ".join(labels.tags),
        "twin of": labels.pair_id if labels.pair_id != labels.id else None,
        "duplicate of": labels.duplicate_of,
        "canary": labels.canary,
        "from": f"{labels.origin.source}: {labels.origin.name}" if labels.origin else None,
    }
    return [f"{name}: {value}" for name, value in facts.items() if value]


def _route(alternative: RouteAlternative) -> Iterator[str]:
    steps = alternative.steps
    yield f"{steps.target} visits cost nothing, {steps.max} are allowed"
    yield from (" → ".join(exemplar) for exemplar in alternative.exemplars)
    hard = [constraint.id for constraint in alternative.constraints if constraint.hard]
    soft = [constraint.id for constraint in alternative.constraints if not constraint.hard]
    yield f"hard: {', '.join(hard) or 'none'}"
    yield f"soft: {', '.join(soft) or 'none'}"


def _point(point: DecisionPoint) -> Iterator[str]:
    visits = " → ".join(point.state.get("visits", ())) or "(nothing yet)"
    accepted = ", ".join(f"{choice} {grade:g}" for choice, grade in point.accept.items())
    yield f"{point.id}: {visits} ⇒ {accepted}"
    yield f"    {point.why}"


def _counted(patch: str) -> str:
    lines = patch.splitlines()
    files = [line.removeprefix("+++ b/") for line in lines if line.startswith("+++ b/")]
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    return f"{', '.join(files)}: {added} lines added, {removed} removed (--patch shows them)"


def _shortened(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS]}\n… {len(text) - SHOWN_CHARACTERS:,} more characters"

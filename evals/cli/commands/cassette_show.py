"""`evals cassette show`: a recorded conversation, readable."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from evals.cassette.store import Interaction
from evals.cassette.transcript import transcript
from evals.cli.terminal.console import VisibleConsole
from evals.errors import EXIT_OK, ConfigurationError
from evals.pipeline.recorded import recorded
from evals.recording.standing import label_of
from evals.workspace import Workspace


def show(
    case: str,
    root: Path,
    *,
    variant: str | None = None,
    agent: str | None = None,
    suite: str | None = None,
    console: Console | None = None,
    dataset: Path | None = None,
) -> int:
    """Print a cassette in the order of its file, or, with a variant, in the order of its trial. Returns 0.

    Raises:
        ConfigurationError: there is no such case, file, variant or agent.
        CassetteError: the cassette cannot be trusted.
    """
    workspace = Workspace.at(root, dataset)
    cassette = recorded(case, workspace)
    ends = ""
    interactions: tuple[Interaction, ...] = cassette.interactions
    if variant is not None:
        from evals.pipeline.trial import (  # replays, which takes more to import
            in_order,
            trial,
            trial_suite,
        )

        trace = trial(case, variant, suite or trial_suite(case, variant, workspace), root)
        interactions = in_order(trace, cassette)
        ends = f"{trace.variant} on {case}: {label_of(trace)}, route {' '.join(trace.route) or '(none)'}"
    chosen = [found for found in interactions if agent in {None, found.agent}]
    if not chosen and interactions:
        known = ", ".join(sorted({found.agent for found in interactions}))
        raise ConfigurationError(f"--agent {agent}: asked nothing here; these did: {known}")
    console = console or VisibleConsole(highlight=False, soft_wrap=True)
    for line in (*transcript(chosen, fold=True), ends or _counted(chosen)):
        console.print(Text(line, style="bold" if line.startswith(("=== ", "[")) else ""))
    return EXIT_OK


def _counted(interactions: list[Interaction]) -> str:
    asked = sum(found.usage.prompt_tokens for found in interactions)
    answered = sum(found.usage.completion_tokens for found in interactions)
    return f"{len(interactions)} interactions, {asked} + {answered} tokens"

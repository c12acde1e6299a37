"""History: every blessed baseline of a suite, out of git."""

from pathlib import Path

from evals.dataset.layout import Layout
from evals.history.tell import tell
from evals.judging.baseline import path_of
from evals.judging.scoring import scorer_infos
from evals.models.history import History
from evals.pipeline.select import dataset_of
from evals.suites.load import load_suite, names
from evals.workspace import Workspace

COSTS = ("cost.visits", "cost.llm_calls", "cost.tokens", "cost.price_usd", "cost.latency_s")


def history(suite: str, root: Path) -> History:
    """What git says of a suite, by name (also of one that is gone) or by its file; nothing is run.

    Raises:
        ConfigurationError: no git, no repository, or no such suite file.
        CannotJudgeError: no baseline of the suite was ever committed.
    """
    known = load_suite(suite) if suite.endswith((".yaml", ".yml")) or suite in names() else None
    workspace = Workspace.at(root, dataset_of(known, root) if known else None)
    name = known.name if known else suite
    return tell(
        workspace.root,
        name,
        path_of(workspace.baselines, name).relative_to(workspace.root).as_posix(),
        Layout(workspace.datasets).cases.relative_to(workspace.root).as_posix(),
        [info for info in scorer_infos() if info.primary or info.name in COSTS],
    )

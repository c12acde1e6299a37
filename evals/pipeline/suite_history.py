"""What git says of a suite's baselines."""

from pathlib import Path

from evals.analysis.history_commits import HistoryRepository
from evals.analysis.history_summary import tell
from evals.comparison.baseline import path_of
from evals.models.history_result import History
from evals.pipeline.load_suite import dataset_of
from evals.scoring.registry import scorer_infos
from evals.suites.suite_files import names, read_suite
from evals.workspace import Workspace

COSTS = ("cost.visits", "cost.llm_calls", "cost.tokens", "cost.price_usd", "cost.latency_s")


def suite_history(suite: str, root: Path) -> History:
    """What git says of a suite, by name (also of one that is gone) or by its file; nothing is run.

    Raises:
        ConfigurationError: no git, no repository, or no such suite file.
        CannotJudgeError: no baseline of the suite was ever committed.
    """
    known = read_suite(suite, root) if suite.endswith((".yaml", ".yml")) or suite in names(root) else None
    workspace = Workspace.at(root, dataset_of(known, root) if known else None)
    name = known.name if known else suite
    return tell(
        HistoryRepository.at(workspace.root),
        name,
        (known.candidate or "") if known else "",
        path_of(workspace.baselines, name).relative_to(workspace.root).as_posix(),
        workspace.pack.cases_folder(workspace.datasets).relative_to(workspace.root).as_posix(),
        [info for info in scorer_infos() if info.primary or info.name in COSTS],
    )

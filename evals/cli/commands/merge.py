"""`evals merge SHARD...`: the shards of one run put together, and judged as `evals run` would have judged it whole."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from evals.cli.terminal.annotate import annotate
from evals.cli.terminal.result import say_result
from evals.export.files import write_report
from evals.export.folder import new_report
from evals.export.shard import read_shard
from evals.pipeline.judge import judge
from evals.pipeline.load import loaded
from evals.pipeline.shards import joined


def merge(paths: Sequence[Path], root: Path, *, out: Path | None, today: date, annotations: bool) -> int:
    """Select the same trials anew, find each in a shard, score, judge and write; the exit code is the verdict's."""
    folder = out or root.resolve() / "reports" / "latest"
    with new_report(folder):
        shards = {path: read_shard(path) for path in paths}
        suite, trials = joined(shards, root)
        chosen = loaded(suite, today)
        result = judge(chosen, trials)
        write_report(result, folder)
    say_result(result, f"{len(trials.traces)} trials of {len(shards)} shards", folder, chosen.workspace.root)
    annotate(result, chosen.workspace.root, asked=annotations)
    return result.verdict.exit_code

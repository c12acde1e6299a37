"""`evals judge record`: ask the judge all that a suite and the check of its judge lack."""

from pathlib import Path

from evals.cli.terminal.judging import Live, record_judge
from evals.cli.terminal.replaying import replayed
from evals.pipeline.judged import asking, bench
from evals.pipeline.options import Options
from evals.pipeline.rounds import Batch
from evals.pipeline.select import selected


def record(name: str, root: Path, batch: Batch, live: Live, *, jobs: int) -> int:
    """Record it; the suite's trials have to be on tape.

    Raises:
        ConfigurationError: the suite asks no judge, or nobody is there to be asked.
        RecordingError: the endpoint or the command failed; what was answered is kept.
    """
    chosen = selected(name, root, Options())
    traces = replayed(chosen, jobs=jobs).traces
    questions = (*asking(chosen, traces).questions, *bench(chosen, traces).questions)
    return record_judge(chosen, questions, batch, live)

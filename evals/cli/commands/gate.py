"""`evals gate`: the verdict of a stored run, made again."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.cli.terminal.console import wide_console
from evals.cli.terminal.result import say_verdict
from evals.errors import ConfigurationError
from evals.export.stored import read_run
from evals.judging.baseline import load_baseline, path_of
from evals.judging.rejudge import judge_again
from evals.llm_judge.verdict import with_judgement
from evals.models.judged import JudgedRun
from evals.models.run import Run
from evals.models.suite import GatePolicy
from evals.workspace import Workspace


def gate(run: Path, root: Path, **policy: Any) -> int:  # noqa: ANN401 - fields of GatePolicy, which checks them
    """Judge again, with the given fields of the policy changed; None leaves a field as the run had it."""
    stored = read_run(run)
    try:
        changed = {name: value for name, value in policy.items() if value is not None}
        asked = GatePolicy.model_validate({**stored.gate.model_dump(), **changed})
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(f"policy, {first['loc'][0]}: {first['msg']}") from error
    baseline = load_baseline(path_of(Workspace.at(root).baselines, stored.suite))
    again: Run = judge_again(stored, baseline, asked)
    if isinstance(again, JudgedRun):
        again = with_judgement(again, again.judge, f"make record SUITE={stored.suite}")
    say_verdict(wide_console(), again)
    return again.verdict.exit_code

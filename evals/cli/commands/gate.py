"""`evals gate`: the verdict of a stored run, made again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.cli.terminal.console import place_of, wide_console
from evals.cli.terminal.result import say_verdict
from evals.errors import CannotJudgeError, ConfigurationError
from evals.export.folder import PREVIOUS
from evals.export.stored import read_run
from evals.judging.baseline import load_baseline, path_of
from evals.judging.rejudge import judge_again
from evals.llm_judge.verdict import with_judgement
from evals.models.judged import JudgedRun
from evals.models.run import Run
from evals.models.suite import GatePolicy
from evals.pipeline.since import changed_since
from evals.workspace import Workspace


def gate(run: Path, root: Path, **policy: Any) -> int:  # noqa: ANN401 - fields of GatePolicy, which checks them
    """Judge again, with the given fields of the policy changed; None leaves a field as the run had it.

    Raises:
        CannotJudgeError: the run is one of this checkout, and something it was made from has changed since.
    """
    if not run.exists() and (before := run.parent / PREVIOUS / run.name).exists():
        raise CannotJudgeError(f"{run}: the last run came to no verdict; run it again (the one before is {before})")
    stored = read_run(run)
    try:
        changed = {name: value for name, value in policy.items() if value is not None}
        asked = GatePolicy.model_validate({**stored.gate.model_dump(), **changed})
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(f"policy, {first['loc'][0]}: {first['msg']}") from error
    workspace = Workspace.at(root)
    if run.resolve().is_relative_to(workspace.reports):
        if since := changed_since(stored, root):
            raise CannotJudgeError(
                f"{place_of(run, workspace.root)}: made before a change of {_some(since)}; "
                f"run `.venv/bin/evals run {stored.suite}` again"
            )
    else:
        print(f"{run}: judged as it was stored; not compared with this checkout, as it is not below reports/")
    baseline = load_baseline(path_of(workspace.baselines, stored.suite))
    again: Run = judge_again(stored, baseline, asked)
    if isinstance(again, JudgedRun):
        again = with_judgement(again, again.judge, f"make record SUITE={stored.suite}")
    say_verdict(wide_console(), again)
    return again.verdict.exit_code


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

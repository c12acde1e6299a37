"""Offline evaluation and prompt regression for agent graphs, from Python: the functions the command line is built on.

    import evals

    suite = evals.load_suite("prompts")        # cases, variants and baseline; held-out cases are left out
    trials = evals.replay(suite)               # every trial offline, on recorded answers
    run = evals.decide(suite, trials)          # scores, comparisons, verdict
    print(run.verdict.sentence)
    run.frame()                                # a pandas table: one row per trial and score
    evals.write_report(run, "out")             # index.html, run.json, summary.md, junit.xml

Nothing here prints, ends a process, or is loaded before it is asked for. What goes wrong is an exception of the tree
in `evals.errors`. See docs/python.md.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Final

from evals.source_loader import install

install()  # before any other module of this package is loaded

if TYPE_CHECKING:
    from evals import errors, langsmith
    from evals.errors import CannotJudgeError, EvalsError
    from evals.models.run import Run, Verdict
    from evals.models.run_request import Options, RunRequest
    from evals.models.trace import Trace
    from evals.pipeline.compare_variants import compare
    from evals.pipeline.decide_run import decide
    from evals.pipeline.load_suite import load_suite
    from evals.pipeline.optimize_prompts import optimize
    from evals.pipeline.run_suite import replay, run
    from evals.pipeline.single_trial import explain
    from evals.report.data_frames import frame
    from evals.report.run_files import read_run, write_report
    from evals.run_context import Progress, RunContext
    from evals.runner.trials import Trials
    from evals.scoring.scorer import NotApplicable, scorer

__all__ = [
    "CannotJudgeError",
    "EvalsError",
    "NotApplicable",
    "Options",
    "Progress",
    "Run",
    "RunContext",
    "RunRequest",
    "Trace",
    "Trials",
    "Verdict",
    "compare",
    "decide",
    "errors",
    "explain",
    "frame",
    "langsmith",
    "load_suite",
    "optimize",
    "read_run",
    "replay",
    "run",
    "scorer",
    "write_report",
]

_PLACES: Final = {
    "errors": ("CannotJudgeError", "EvalsError"),
    "report.data_frames": ("frame",),
    "report.run_files": ("read_run", "write_report"),
    "models.run": ("Run", "Verdict"),
    "models.trace": ("Trace",),
    "pipeline.compare_variants": ("compare",),
    "pipeline.single_trial": ("explain",),
    "models.run_request": ("Options", "RunRequest"),
    "pipeline.decide_run": ("decide",),
    "pipeline.load_suite": ("load_suite",),
    "pipeline.optimize_prompts": ("optimize",),
    "pipeline.run_suite": ("replay", "run"),
    "run_context": ("Progress", "RunContext"),
    "runner.trials": ("Trials",),
    "scoring.scorer": ("NotApplicable", "scorer"),
}
"""Module below `evals` -> what of it is public."""
_MODULES: Final = ("errors", "langsmith")
_OLD: Final = {"judge": "decide", "LoadedSuite": "RunContext"}
"""Names of the version before, accepted with a warning -> the present ones."""


def __getattr__(name: str) -> object:
    """A public name, from where it is defined, when it is first asked for: `import evals` alone stays a millisecond."""
    if name in _OLD:
        warnings.warn(f"evals.{name} is now evals.{_OLD[name]}", DeprecationWarning, stacklevel=2)
        name = _OLD[name]
    if name in _MODULES:
        return import_module(f"evals.{name}")
    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"evals.{place}"), name)
    raise AttributeError(f"module 'evals' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]

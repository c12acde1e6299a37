"""Offline evaluation and prompt regression for agent graphs, from Python: the functions the command line is built on.

    import evals

    suite = evals.load_suite("prompts")        # cases, variants and baseline; held-out cases are left out
    trials = evals.replay(suite)               # every trial offline, on recorded answers
    run = evals.judge(suite, trials)           # scores, comparisons, verdict
    print(run.verdict.sentence)
    run.frame()                                # a pandas table: one row per trial and score
    evals.write_report(run, "out")             # index.html, run.json, summary.md, junit.xml

Nothing here prints, ends a process, or is loaded before it is asked for. What goes wrong is an exception of the tree
in `evals.errors`. See docs/python.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from evals.module_loader import install

install()  # before any other module of this package is loaded

if TYPE_CHECKING:
    from evals import errors, langsmith
    from evals.errors import CannotJudgeError, EvalsError
    from evals.models.run import Run, Verdict
    from evals.models.trace import Trace
    from evals.pipeline.compare_variants import compare
    from evals.pipeline.judge_run import judge
    from evals.pipeline.load_run import LoadedSuite, Options, load_suite
    from evals.pipeline.run_suite import replay
    from evals.pipeline.single_trial import explain
    from evals.report.data_frames import frame
    from evals.report.run_files import write_report
    from evals.report.stored_files import read_run
    from evals.runner.trials import Progress, Trials
    from evals.scoring.scorer import NotApplicable, scorer

__all__ = [
    "CannotJudgeError",
    "EvalsError",
    "LoadedSuite",
    "NotApplicable",
    "Options",
    "Progress",
    "Run",
    "Trace",
    "Trials",
    "Verdict",
    "compare",
    "errors",
    "explain",
    "frame",
    "judge",
    "langsmith",
    "load_suite",
    "read_run",
    "replay",
    "scorer",
    "write_report",
]

_PLACES: Final = {
    "errors": ("CannotJudgeError", "EvalsError"),
    "report.data_frames": ("frame",),
    "report.run_files": ("write_report",),
    "report.stored_files": ("read_run",),
    "models.run": ("Run", "Verdict"),
    "models.trace": ("Trace",),
    "pipeline.compare_variants": ("compare",),
    "pipeline.single_trial": ("explain",),
    "pipeline.judge_run": ("judge",),
    "pipeline.load_run": ("LoadedSuite", "Options", "load_suite"),
    "pipeline.run_suite": ("replay",),
    "runner.trials": ("Progress", "Trials"),
    "scoring.scorer": ("NotApplicable", "scorer"),
}
"""Module below `evals` -> what of it is public."""
_MODULES: Final = ("errors", "langsmith")


def __getattr__(name: str) -> object:
    """A public name, from where it is defined, when it is first asked for: `import evals` alone stays a millisecond."""
    if name in _MODULES:
        return import_module(f"evals.{name}")
    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"evals.{place}"), name)
    raise AttributeError(f"module 'evals' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]

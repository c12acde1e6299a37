"""Offline evaluation and prompt regression for agent graphs, from Python: the functions the command line is built on.

    import evals

    suite = evals.load_suite("prompts")        # cases, variants and baseline; held-out cases are left out
    trials = evals.replay(suite)               # every trial offline, on recorded answers
    run = evals.judge(suite, trials)           # scores, comparisons, verdict
    print(run.verdict.sentence)
    run.frame()                                # a pandas table: one row per trial and score
    evals.write_report(run, Path("out"))       # index.html, run.json, summary.md, junit.xml

Nothing here prints, ends a process, or is loaded before it is asked for. What goes wrong is an exception of the tree
in `evals.errors`. See docs/python.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from evals.modules import install

install()  # before any other module of this package is loaded

if TYPE_CHECKING:
    from evals import errors, langsmith
    from evals.errors import CannotJudgeError, EvalsError
    from evals.export.files import write_report
    from evals.export.stored import read_run
    from evals.models.run import Run, Verdict
    from evals.models.trace import Trace
    from evals.pipeline.compare import compare
    from evals.pipeline.explain import explain
    from evals.pipeline.judge import judge
    from evals.pipeline.load import LoadedSuite, load_suite
    from evals.pipeline.options import Options
    from evals.pipeline.replay import replay
    from evals.runner.pool import Progress, Trials

__all__ = [
    "CannotJudgeError",
    "EvalsError",
    "LoadedSuite",
    "Options",
    "Progress",
    "Run",
    "Trace",
    "Trials",
    "Verdict",
    "compare",
    "errors",
    "explain",
    "judge",
    "langsmith",
    "load_suite",
    "read_run",
    "replay",
    "write_report",
]

_PLACES: Final = {
    "errors": ("CannotJudgeError", "EvalsError"),
    "export.files": ("write_report",),
    "export.stored": ("read_run",),
    "models.run": ("Run", "Verdict"),
    "models.trace": ("Trace",),
    "pipeline.compare": ("compare",),
    "pipeline.explain": ("explain",),
    "pipeline.judge": ("judge",),
    "pipeline.load": ("LoadedSuite", "load_suite"),
    "pipeline.options": ("Options",),
    "pipeline.replay": ("replay",),
    "runner.pool": ("Progress", "Trials"),
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

"""The sections of triage: published localisation, stated confidence, guards."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from evals.models.run import Run
from evals.report.view.page_parts import Table, without_empty
from evals.report.view.sections import Section

if TYPE_CHECKING:
    from evals.triage.report.calibration_charts import CalibrationView


@dataclass(frozen=True)
class PublishedView:
    """The table and what it is."""

    table: Table
    legend: str


@dataclass(frozen=True)
class ConfidenceView:
    """Charts of stated confidence, and the command that tries other thresholds."""

    calibrations: "tuple[CalibrationView, ...]"
    sweep_command: str


@dataclass(frozen=True)
class GuardView:
    """How often guards overrode a decision, and what each is good for."""

    guards: Table
    ablations: Table


def _draw(template: str, view: object) -> Markup:
    from evals.report.html_page import drawn  # noqa: PLC0415 - a cached run draws no page

    return drawn("evals.triage.report", template, view)


def published(run: Run) -> Markup:
    """Localisation as others score it; empty where no case is an imported one with gold."""
    from evals.triage.report.published_table import LEGEND, published_table  # noqa: PLC0415 - as above

    return _draw("published.html.j2", PublishedView(published_table(run), LEGEND))


def published_tables(run: Run) -> tuple[Table, ...]:
    """Localisation as others score it, for terminal and summary; none where no case is an imported one with gold."""
    if not any(case.published for case in run.cases):
        return ()
    from evals.triage.report.published_table import published_table  # noqa: PLC0415 - as above

    return (published_table(run),)


def confidence(run: Run) -> Markup:
    """Stated confidence against what it came to."""
    from evals.triage.report.calibration_charts import calibration_views  # noqa: PLC0415 - as above

    command = f"evals sweep {run.suite} --single 0.5:0.95:0.05 --guards all"
    return _draw("confidence.html.j2", ConfidenceView(calibration_views(run), command))


def guards(run: Run) -> Markup:
    """Guards and their ablation."""
    from evals.triage.report.guard_tables import ablation_table, guard_table  # noqa: PLC0415 - as above

    return _draw("guards.html.j2", GuardView(without_empty(guard_table(run)), ablation_table(run)))


def guard_tables(run: Run) -> tuple[Table, ...]:
    """How often guards overrode a decision, for the summary."""
    from evals.triage.report.guard_tables import guard_table  # noqa: PLC0415 - as above

    return (guard_table(run),)


SECTIONS: Final = (
    Section("published", "Localisation as published evaluations score it", "numbers", published, published_tables),
    Section("confidence", "Confidence", "decisions", confidence),
    Section("guards", "Guards", "prompts", guards, guard_tables),
)

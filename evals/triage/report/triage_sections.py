"""The sections of triage: published localisation, stated confidence, guards."""

from types import SimpleNamespace
from typing import Final

from markupsafe import Markup

from evals.models.run import Run
from evals.report.view.page_parts import Section, Table, without_empty
from evals.triage.typed_views import published_gold


def _draw(template: str, view: object) -> Markup:
    from evals.report.html_page import drawn  # noqa: PLC0415 - a cached run draws no page

    return drawn("evals.triage.report", template, view)


def published(run: Run) -> Markup:
    """Localisation as others score it; empty where no case is an imported one with gold."""
    return _draw("published.html.j2", published_tables(run))


def published_tables(run: Run) -> tuple[Table, ...]:
    """Localisation as others score it, for terminal and summary; none where no case is an imported one with gold."""
    if not any(published_gold(case) for case in run.cases):
        return ()
    from evals.triage.report.localisation_accuracy import published_table  # noqa: PLC0415 - as above

    return (published_table(run),)


def confidence(run: Run) -> Markup:
    """Charts of stated confidence against what it came to, and the command that tries other thresholds."""
    from evals.triage.report.calibration_charts import calibration_views  # noqa: PLC0415 - as above

    command = f"evals sweep {run.suite} --single 0.5:0.95:0.05 --guards all"
    return _draw("confidence.html.j2", SimpleNamespace(calibrations=calibration_views(run), sweep_command=command))


def guards(run: Run) -> Markup:
    """How often guards overrode a decision, and what each is good for."""
    from evals.triage.report.guard_tables import ablation_table, guard_table  # noqa: PLC0415 - as above

    return _draw(
        "guards.html.j2",
        SimpleNamespace(guards=without_empty(guard_table(run)), ablations=without_empty(ablation_table(run))),
    )


def guard_tables(run: Run) -> tuple[Table, ...]:
    """How often guards overrode a decision, for the summary."""
    from evals.triage.report.guard_tables import guard_table  # noqa: PLC0415 - as above

    return (guard_table(run),)


SECTIONS: Final = (
    Section("published", "Localisation as published evaluations score it", "numbers", published, published_tables),
    Section("confidence", "Confidence", "decisions", confidence),
    Section("guards", "Guards", "prompts", guards, guard_tables),
)

"""One self-contained HTML file from a run. No clock, no network, no chance: the same run gives the same bytes."""

from markupsafe import Markup

from evals.models.run import Run
from evals.report.document import TEMPLATES, asset, policy
from evals.report.view.page import page


def render(run: Run) -> str:
    """The report as one HTML document, to be written as UTF-8."""
    style, script = asset("report.css"), asset("report.js")
    view = page(run)
    return TEMPLATES.get_template("page.html.j2").render(
        page=view,
        texts=Markup(view.texts),  # noqa: S704 - `script_json` has made it safe to stand in a script element
        style=style,
        script=script,
        policy=policy(style, script),
    )

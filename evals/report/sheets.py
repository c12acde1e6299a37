"""Pages without a script, of a sweep and of a self-test. Apart from the report of a run: it is not to load so much."""

from markupsafe import Markup

from evals.models.selftest import SelfTest
from evals.models.sweep import Sweep
from evals.report.document import TEMPLATES, asset, policy
from evals.report.view.selftest import selftest_page
from evals.report.view.sweep import sweep_page


def render_sweep(sweep: Sweep) -> str:
    """The page of a sweep: one HTML document."""
    return _sheet("sweep", sweep_page(sweep))


def render_selftest(result: SelfTest) -> str:
    """The page of a self-test: one HTML document."""
    return _sheet("selftest", selftest_page(result))


def _sheet(name: str, view: object) -> str:
    style = Markup(f"{asset('report.css')}\n{asset('sweep.css')}")  # noqa: S704 - both shipped with the package
    return TEMPLATES.get_template(f"{name}.html.j2").render(page=view, style=style, policy=policy(style, ""))

"""Pages without a script: of a sweep, a self-test, a history, a judge. Apart from a run's report, to load less."""

from markupsafe import Markup

from evals.models.history import History
from evals.models.judged import JudgeCheck
from evals.models.selftest import SelfTest
from evals.models.sweep import Sweep
from evals.report.document import TEMPLATES, asset, policy
from evals.report.view.badge import badge_of
from evals.report.view.history import history_page
from evals.report.view.judge_check import check_page
from evals.report.view.selftest import selftest_page
from evals.report.view.sweep import sweep_page


def render_sweep(sweep: Sweep) -> str:
    """The page of a sweep: one HTML document."""
    return _sheet("sweep", sweep_page(sweep))


def render_selftest(result: SelfTest) -> str:
    """The page of a self-test: one HTML document."""
    return _sheet("selftest", selftest_page(result))


def render_judge(check: JudgeCheck) -> str:
    """The page of a judge's check: one HTML document."""
    return _sheet("judge", check_page(check))


def render_history(history: History) -> str:
    """The page of a history: one HTML document."""
    return _sheet("history", history_page(history), "history.css")


def render_badge(history: History) -> str:
    """The badge of a history: one SVG document, 20 pixels high."""
    return TEMPLATES.get_template("badge.svg.j2").render(badge=badge_of(history))


def _sheet(name: str, view: object, own: str = "sweep.css") -> str:
    style = Markup(f"{asset('report.css')}\n{asset(own)}")  # noqa: S704 - both shipped with the package
    return TEMPLATES.get_template(f"{name}.html.j2").render(page=view, style=style, policy=policy(style, ""))

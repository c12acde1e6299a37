"""One self-contained HTML file from a run. No clock, no network, no chance: the same run gives the same bytes."""

import base64
import hashlib
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evals.models.run import Run
from evals.models.selftest import SelfTest
from evals.models.sweep import Sweep
from evals.report.inert import visible
from evals.report.view.page import page
from evals.report.view.selftest import selftest_page
from evals.report.view.sweep import sweep_page

_ASSETS: Final = files("evals.report") / "assets"


def _shown(value: object) -> object:
    """Every string a template prints passes here before it is escaped, so no unseen character can slip in."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_TEMPLATES: Final = Environment(
    loader=PackageLoader("evals.report"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_shown,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(run: Run) -> str:
    """The report as one HTML document, to be written as UTF-8."""
    style, script = _asset("report.css"), _asset("report.js")
    view = page(run)
    return _TEMPLATES.get_template("page.html.j2").render(
        page=view,
        texts=Markup(view.texts),  # noqa: S704 - `script_json` has made it safe to stand in a script element
        style=style,
        script=script,
        policy=_policy(style, script),
    )


def render_sweep(sweep: Sweep) -> str:
    """The page of a sweep: one HTML document without a script."""
    return _sheet("sweep", sweep_page(sweep))


def render_selftest(result: SelfTest) -> str:
    """The page of a self-test: one HTML document without a script."""
    return _sheet("selftest", selftest_page(result))


def _sheet(name: str, view: object) -> str:
    style = Markup(f"{_asset('report.css')}\n{_asset('sweep.css')}")  # noqa: S704 - both shipped with the package
    return _TEMPLATES.get_template(f"{name}.html.j2").render(page=view, style=style, policy=_policy(style, ""))


def _asset(name: str) -> Markup:
    """A file of ours, inlined as it is."""
    return Markup((_ASSETS / name).read_text(encoding="utf-8"))  # noqa: S704 - shipped with the package, not input


def _policy(style: str, script: str) -> str:
    """A content security policy that lets run exactly these two blocks and loads nothing at all."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )


def _hash(block: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'"

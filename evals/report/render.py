"""One self-contained HTML file from a run. No clock, no network, no chance: the same run gives the same bytes."""

from collections.abc import Iterator
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from evals.models.run import Run
from evals.report.document import TEMPLATES, asset, handing_to, policy
from evals.report.pack import Pack
from evals.report.view.page import Page, page
from evals.uncollected import uncollected

_SCRIPTS: Final = ("unpack.js", "ribbon.js", "report.js")


def render(run: Run) -> str:
    """The report as one HTML document, to be written as UTF-8."""
    with uncollected():
        return _rendered(run)


def _rendered(run: Run) -> str:
    view = page(run)
    style, script = asset("report.css"), Markup("\n").join(asset(name) for name in _SCRIPTS)
    return TEMPLATES.get_template("page.html.j2").render(
        page=view,
        lists=Markup(view.lists),  # noqa: S704 - `script_json` has made it safe to stand in a script element
        packed=_pack(view).packed({"scorers": [item.name for item in view.definitions]}),
        style=style,
        script=script,
        policy=policy(style, script),
    )


def _pack(view: Page) -> Pack:
    """What opens on demand, by the names `unpack.js` asks for."""
    pack = Pack(view.texts)
    for name in _parts(view, handing_to(pack)):
        pack.close(name)
    return pack


def _parts(view: Page, templates: Environment) -> Iterator[str]:
    """The name of each part, when it has been drawn."""
    parts: Any = templates.get_template("parts.html.j2").module  # its macros are attributes that no type knows
    sections: Any = templates.get_template("sections.html.j2").module
    for row in view.cases.rows:
        parts.case(row)
        yield f"case-{row.id}"
    for number, lines in enumerate(view.changes):
        parts.lines(lines, "What each was shown")
        yield f"change-{number}"
    for number, cause in enumerate(view.causes):
        sections.cause(cause)
        yield f"cause-{number}"
    for number, each in enumerate(view.disputes):
        if each.rows:
            sections.disputes(each)
            yield f"disputes-{number}"
    for number, sheet in enumerate(view.sheets):
        parts.rule_sheet(sheet)
        yield f"rules-{number}"
    for number, picture in enumerate(view.pictures):
        parts.picture(picture)
        yield f"plan-{number}"

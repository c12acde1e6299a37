"""One self-contained HTML file from a run. No clock, no network, no chance: the same run gives the same bytes."""

from collections.abc import Iterator
from typing import Any, Final

from markupsafe import Markup

from evals.models.run import Run
from evals.report.document import TEMPLATES, asset, policy
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
    for name, markup in _parts(view):
        pack.add(name, markup)
    return pack


def _parts(view: Page) -> Iterator[tuple[str, str]]:
    parts: Any = TEMPLATES.get_template("parts.html.j2").module  # its macros are attributes that no type knows
    sections: Any = TEMPLATES.get_template("sections.html.j2").module
    yield from ((f"case-{row.id}", parts.case(row)) for row in view.cases.rows)
    for number, lines in enumerate(view.changes):
        yield f"change-{number}", parts.lines(lines, "What each was shown")
    yield from ((f"cause-{number}", sections.cause(cause)) for number, cause in enumerate(view.causes))
    yield from (
        (f"disputes-{number}", sections.disputes(each)) for number, each in enumerate(view.disputes) if each.rows
    )
    yield from ((f"rules-{number}", parts.rule_sheet(sheet)) for number, sheet in enumerate(view.sheets))
    yield from ((f"plan-{number}", parts.picture(picture)) for number, picture in enumerate(view.pictures))

"""HTML pages: templates, inlined style and script, rendered to one file."""

import base64
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Protocol

import jinja2
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from jinja2.runtime import Context
from markupsafe import Markup

from evals.content_cache import Kept, digest_of
from evals.gc_pause import uncollected
from evals.models.run import Run
from evals.models.selftest_result import SelfTest
from evals.report.compressed_texts import SharedTexts as TextPack
from evals.report.recorded_calls import NONE, Recorded
from evals.report.view.page import page
from evals.shared.visible_text import visible

if TYPE_CHECKING:
    from evals.pack import Pack


class Compiled(jinja2.BytecodeCache):
    """What Jinja makes of templates, in a folder.

    An entry follows from the template, from Jinja and from `rests_on`: the source of whoever says how to compile. A
    damaged one is none, and so is one that cannot be written.
    """

    def __init__(self, folder: Path, rests_on: bytes) -> None:
        self._kept = Kept(folder)
        self._rests_on = rests_on

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket with what was compiled before."""
        if (code := self._kept.get(self._name(bucket))) is not None:
            bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled now, where Python may keep its own bytecode."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                self._kept.put(self._name(bucket), bucket.bytecode_to_string())

    def _name(self, bucket: Bucket) -> str:
        versions = f"{sys.implementation.cache_tag} {jinja2.__version__}"
        return digest_of(self._rests_on, *(each.encode() for each in (versions, bucket.key, bucket.checksum)))


_ASSETS: Final = files("evals.report") / "assets"
_HERE: Final = Path(__file__).resolve()


def _shown(value: object) -> object:
    """Every string a template prints passes here before it is escaped, so no unseen character can slip in."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


class _Context(Context):
    """Templates call nothing but macros, and by position: to find that out at every call is a tenth of what they do."""

    def call(self, macro: Callable[..., object], *args: object, **_: object) -> object:
        """What else Jinja hands along is for functions that ask for it."""
        return macro(*args)


def _templates(name: str, finalize: Callable[[object], object], *, escapes: bool) -> Environment:
    templates = Environment(
        loader=PackageLoader("evals.report"),
        bytecode_cache=Compiled(_HERE.parent / "__pycache__" / name, rests_on=_HERE.read_bytes()),
        autoescape=escapes,  # noqa: S701 - False where `Taker` does
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.context_class = _Context
    templates.getattr = getattr  # type: ignore[method-assign,assignment] # views have attributes, not items as well
    return templates


TEMPLATES: Final = _templates("templates", _shown, escapes=True)


@cache
def _templates_of(package: str) -> Environment:
    """The templates of a package, which may import ours."""
    return TEMPLATES.overlay(loader=ChoiceLoader([PackageLoader(package), PackageLoader("evals.report")]))


def drawn(package: str, template: str, view: object) -> Markup:
    """A part of a page: a template in the folder `templates` of a package, with its view as `page`."""
    return Markup(_templates_of(package).get_template(template).render(page=view))  # noqa: S704 - templates escape


class Taker(Protocol):
    """Who is given what templates are to print, and says what they print instead. To escape it is up to the taker."""

    def shown(self, value: object) -> str:
        """Takes one value, as it is."""

    def form(self, printed: Iterable[str]) -> str:
        """Takes all that a macro printed, when it ends."""


def handing_to(taker: Taker) -> Environment:
    """The same templates, which print nothing by themselves."""
    templates = _templates("handing", taker.shown, escapes=False)
    templates.concat = taker.form  # type: ignore[method-assign] # an attribute to Jinja: its native templates set it, too
    return templates


def asset(name: str) -> Markup:
    """A file of ours, inlined as it is."""
    return Markup((_ASSETS / name).read_text(encoding="utf-8"))  # noqa: S704 - shipped with the package, not input


def policy(style: str, script: str) -> str:
    """A content security policy that lets run exactly these two blocks and loads nothing at all."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )


def _hash(block: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'"


_SCRIPTS: Final = ("unpack.js", "ribbon.js", "report.js")


def render(run: Run, pack: "Pack | None" = None, recorded: Recorded = NONE) -> str:
    """The report as one HTML document, to be written as UTF-8, with the sections of a pack (of the default one if none
    is given), and what models were `recorded` to answer."""
    with uncollected():
        return _rendered(page(run, pack, recorded))


def _rendered(view: SimpleNamespace) -> str:
    style, script = asset("report.css"), Markup("\n").join(asset(name) for name in _SCRIPTS)
    return TEMPLATES.get_template("page.html.j2").render(
        page=view,
        lists=Markup(view.lists),  # noqa: S704 - `script_json` has made it safe to stand in a script element
        packed=_pack(view).packed({"scorers": [name for name, *_ in view.definitions]}),
        style=style,
        script=script,
        policy=policy(style, script),
    )


def _pack(view: SimpleNamespace) -> TextPack:
    """What opens on demand, by the names `unpack.js` asks for."""
    pack = TextPack(view.texts)
    for name in _parts(view, handing_to(pack)):
        pack.close(name)
    return pack


def _parts(view: SimpleNamespace, templates: Environment) -> Iterator[str]:
    """The name of each part, when it has been drawn."""
    parts: Any = templates.get_template("parts.html.j2").module  # its macros are attributes that no type knows
    sections: Any = templates.get_template("sections.html.j2").module
    for row in view.cases.rows:
        parts.case(row)
        yield f"case-{row.case.id}"
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


def render_selftest(result: SelfTest) -> str:
    """The page of a self-test: one HTML document."""
    from evals.report.view.selftest_page import selftest_page  # noqa: PLC0415 - numpy, which no other page needs

    return render_sheet("selftest", selftest_page(result))


def render_sheet(name: str, view: object, own: str = "sweep.css") -> str:
    """The template `name`.html.j2 with its view and the style sheet `own`: one HTML document."""
    style = Markup(f"{asset('report.css')}\n{asset(own)}")  # noqa: S704 - both shipped with the package
    return TEMPLATES.get_template(f"{name}.html.j2").render(page=view, style=style, policy=policy(style, ""))

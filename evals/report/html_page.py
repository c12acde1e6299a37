"""HTML pages: templates, inlined style and script, compressed texts, rendered to one file."""

import base64
import hashlib
import json
import sys
import zlib
from base64 import b85encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import jinja2
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from jinja2.runtime import Context
from markupsafe import Markup, escape

from evals.content_cache import Kept, digest_of
from evals.gc_pause import uncollected
from evals.models.analysis_results import SelfTest
from evals.models.run import Run
from evals.report.recorded_calls import NONE, Recorded
from evals.report.view.page import page
from evals.report.view.page_parts import Number
from evals.shared.display_text import visible

if TYPE_CHECKING:
    from evals.application_pack import Pack


class TextPlaces(dict[str, int]):
    """Text -> the place in the table of what `spelled` makes of it; it is put there when it is first asked for."""

    def __init__(self, table: dict[str, int], spelled: Callable[[str], str]) -> None:
        self._table = table
        self._spelled = spelled

    def __missing__(self, text: str) -> int:
        place = self[text] = self._table.setdefault(self._spelled(text), len(self._table))
        return place


TEXT: Final = 0
OLD: Final = 1
LEVEL: Final = 6

_NUMBER: Final = -1  # in the place of a piece: the number of a text
_HARMLESS: Final = bytes.maketrans(b"<>&", b",.:")  # what HTML knows, in letters that base 85 leaves free


class Hole(str):
    """Where a form is to be filled: a letter that `visible` leaves in no text. A text of this letter is no hole."""

    __slots__ = ()


HOLE: Final = Hole("\1")


class PackedPart(NamedTuple):
    """A part in codes. `known` pieces came before it; `paragraphs` are lines each, and `texts` numbers of paragraphs;
    `numbers` say which text stands where, one for each `TEXT` among the codes."""

    known: int
    paragraphs: list[list[int]]
    texts: list[list[int]]
    numbers: list[int]
    codes: list[int]


class SharedTexts:
    """Parts by name, over one table of pieces. `texts` are the long ones, by the number the parts call them by."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._pieces: dict[str, int] = {}
        self._forms = TextPlaces(self._pieces, str)
        self._values = TextPlaces(self._pieces, lambda value: str(escape(visible(value))))
        self._lines = TextPlaces(self._pieces, visible)
        self._parts: dict[str, PackedPart] = {}
        self._begin()

    def shown(self, value: object) -> str:
        """Takes what a template is to print, and gives what it prints instead. What a macro printed has been taken."""
        if isinstance(value, Hole):
            return value
        if isinstance(value, Number):
            self._named.append(value)
            self._drawn.append(_NUMBER)
        elif text := str(value):
            self._drawn.append(self._values[text])
        else:
            return ""
        return HOLE

    def form(self, printed: Iterable[str]) -> Hole:
        """Takes all that a macro printed, and gives what stands for it."""
        self._drawn.append(self._forms["".join(printed)])
        return HOLE

    def close(self, name: str) -> None:
        """All that was taken since the last time is a part, under the name by which the page asks for it."""
        order: dict[str, int] = {}
        numbers = [order.setdefault(value, len(order)) for value in self._named]
        paragraphs: dict[str, int] = {}
        texts = [
            [paragraphs.setdefault(each, len(paragraphs)) for each in _paragraphs(self._texts[int(number)])]
            for number in order
        ]
        lines = [self._codes([self._lines[line] for line in each.split("\n")]) for each in paragraphs]
        self._parts[name] = PackedPart(self._known, lines, texts, numbers, self._codes(self._drawn))
        self._begin()

    def packed(self, more: Mapping[str, object]) -> str:
        """It all and what goes with it, JSON of `{names, columns, pieces, **more}`: zlib in base 85.
        A column is one field of all parts: what is of one kind deflates better beside its like.
        """
        content = {
            "names": list(self._parts),
            "columns": list(zip(*self._parts.values(), strict=True)),
            "pieces": list(self._pieces),
            **more,
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return b85encode(zlib.compress(text.encode(), LEVEL)).translate(_HARMLESS).decode()

    def _begin(self) -> None:
        self._known = len(self._pieces)
        self._named: list[Number] = []
        self._drawn: list[int] = []

    def _codes(self, places: Iterable[int]) -> list[int]:
        known, away = self._known, self._known - 1
        return [away - place if place >= known else place + OLD if place >= 0 else TEXT for place in places]


def _paragraphs(text: str) -> list[str]:
    if "\r" in text:  # looked for by itself: most texts have none, and that is soon seen
        text = text.replace("\r\n", "\n")
    return text.split("\n\n")


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
        autoescape=escapes,  # noqa: S701 - False where `SharedTexts` does
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


def handing_to(taker: SharedTexts) -> Environment:
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


def _pack(view: SimpleNamespace) -> SharedTexts:
    """What opens on demand, by the names `unpack.js` asks for."""
    pack = SharedTexts(view.texts)
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


def render_sheet(name: str, view: object, own: str = "sheet.css", package: str = "evals.report") -> str:
    """The template `name`.html.j2 of a package with its view and the style sheet `own`: one HTML document."""
    style = Markup(f"{asset('report.css')}\n{asset(own)}")  # noqa: S704 - both shipped with the package
    return (
        _templates_of(package).get_template(f"{name}.html.j2").render(page=view, style=style, policy=policy(style, ""))
    )

"""What every page of ours is made with: escaping templates, style and script inlined, a policy that allows no more."""

import base64
import hashlib
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Final, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.runtime import Context
from markupsafe import Markup

from evals.report.compiled import Compiled
from evals.report.inert import visible

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

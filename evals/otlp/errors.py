"""What went wrong, as attributes: its kind for everyone, its words only where contents are wanted."""

import re
from typing import Final

from evals.otlp import names
from evals.otlp.planned import Attributes, known

OTHER: Final = "_OTHER"
"""The conventions' word for an error whose kind is not known."""
NOT_RECORDED: Final = "not_recorded"
_KIND: Final = re.compile(r"\w*(?:Error|Exception|Timeout)\b")


def error_of(text: str | None, *, content: bool) -> Attributes:
    """`error.type` is the exception's class where the text begins with one; nothing where nothing went wrong."""
    if text is None:
        return {}
    kind = _KIND.match(text)
    return known({names.ERROR_TYPE: kind.group() if kind else OTHER, names.ERROR: text if content else None})

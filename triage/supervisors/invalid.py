"""What counts as an invalid answer of a supervisor's model, and how it is told.

Only invalid output is forgiven. Outages (401, 429 after retries, 5xx, time-outs) and unrecorded requests surface.
"""

import json
from typing import Final

from langchain_openai.chat_models.base import OpenAIRefusalError
from openai import ContentFilterFinishReasonError, LengthFinishReasonError
from pydantic import ValidationError

# ValueError covers broken JSON, a broken schema and an empty reply; no error of the HTTP client is one.
INVALID_OUTPUT: Final = (
    ValueError,
    OpenAIRefusalError,
    LengthFinishReasonError,
    ContentFilterFinishReasonError,
)


def fault(error: Exception) -> str:
    """What was wrong, in words that depend on the reply alone: no ids, usage counts or library versions, since the
    words become part of the next request."""
    match error:
        case ValidationError():
            return "; ".join(f"{_place(found['loc'])}: {found['msg']}" for found in error.errors())
        case json.JSONDecodeError():
            return f"it is not JSON ({error.msg} at character {error.pos})"
        case OpenAIRefusalError():
            return "it was a refusal"
        case LengthFinishReasonError():
            return "it was cut off at the length limit; be brief"
        case ContentFilterFinishReasonError():
            return "it was stopped by the content filter"
        case _:
            return "it was empty"


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location)) or "reply"

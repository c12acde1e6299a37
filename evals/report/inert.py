"""Text from issues and models, made safe to look at: what would act unseen is shown instead."""

import json
from typing import Final

from triage.visible_text import visible

__all__ = ["script_json", "visible"]
_ACTIVE: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def script_json(value: object) -> str:
    """JSON that may stand inside a `<script>` element: no character of it can end the element or start another."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).translate(_ACTIVE)

"""What a command answers, before it reaches a file: a round is no place for what a cassette refuses either."""

import json
from typing import Final

from evals.cassette.allowed_secrets import AllowedSecrets
from evals.cassette.hold_back import fit_to_write
from evals.cassette.key import parse_json
from evals.cassette.redact import redact_response, scan, scrub

_CHAT: Final = "/chat/completions"  # nothing else is handed out


def fit_line(line: bytes, allowed: AllowedSecrets) -> bytes:
    """The line of an answer file as it may stand there. An answer that holds a secret is an error in its place, and is
    asked again; what would be dropped of it anyway is withheld."""
    text = line.decode(errors="replace")
    try:
        value = parse_json(text)
    except ValueError:
        return line if scrub(text) == text else scrub(text).encode()
    response = value.get("response") if isinstance(value, dict) else None
    body = response.get("body") if isinstance(response, dict) else None
    found = scan(redact_response(_CHAT, body), "response", allowed) if isinstance(body, dict) else []
    if found:
        error = f"withheld: {found[0].rule} at {found[0].json_path}"
        value = {"custom_id": value.get("custom_id"), "response": None, "error": error}
        text = json.dumps(value)
    fit = fit_to_write(text, allowed)
    return line if not found and fit == text else fit.encode()

"""Nothing that a cassette would refuse is sent: the whole upload is refused, before its first request."""

import json
from collections.abc import Iterable
from pathlib import Path

from evals.cassette.allowed_secrets import FILE as ALLOWED_FILE
from evals.cassette.allowed_secrets import AllowedSecrets
from evals.cassette.redact import scan, unsuspicious
from evals.errors import SecretFoundError


def refuse_secrets(path: Path, things: Iterable[tuple[str, object]], allowed: AllowedSecrets) -> None:
    """Look through `things`, each with what it is called, which were made of what stands at `path`.

    Raises:
        SecretFoundError: something in one of them looks like a secret that nobody answers for; it names the place, and
            never the secret.
    """
    for name, value in things:
        plain = json.loads(json.dumps(value, default=str))
        if unsuspicious([json.dumps(plain, ensure_ascii=False)], []):
            continue
        for found in scan(plain, allowed=allowed)[:1]:
            raise SecretFoundError(
                path,
                f"{found.rule} at {found.json_path} of {name}: nothing was sent; remove it at its source, or, if it is "
                f"no secret, allow sha256 {found.sha256} in cassettes/{ALLOWED_FILE}",
            )

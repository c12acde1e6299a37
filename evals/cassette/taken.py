"""Interactions out of traffic that was kept elsewhere, by the same rules as recorded ones."""

from collections.abc import Iterable
from typing import Final

from evals.cassette.bounds import excess
from evals.cassette.interaction import Interaction
from evals.cassette.key import request_key
from evals.cassette.redact import redact_request, redact_response, scrub
from evals.cassette.reply import usage_of
from evals.cassette.vcr_file import json_text
from evals.errors import RecordingError
from evals.models.live_job import Served

PATHS: Final = ("/v1/chat/completions", "/search")
"""What requests of a replay are called; a live endpoint may have them below a folder of its own."""


def interactions_of(served: Iterable[Served], recorded_by: str) -> list[Interaction]:
    """What can be replayed of the traffic, each request once; answers of other protocols are left out.

    Raises RecordingError where an answer says of itself what cannot be kept.
    """
    found: dict[str, Interaction] = {}
    for one in served:
        path = next((path for path in PATHS if one.path.endswith(path.removeprefix("/v1"))), None)
        if path is None:
            continue
        body = redact_request(one.request)
        answer = redact_response(path, one.response)
        if found_excess := excess(answer):
            raise RecordingError(f"the kept answer to {scrub(one.agent)} has {found_excess}; it makes no case")
        key = request_key("POST", path, json_text(body).encode())
        found.setdefault(
            key,
            Interaction(
                key=key,
                agent=one.agent,
                model=str(answer.get("model") or body.get("model") or ""),
                uri=path,
                request=body,
                response=answer,
                recorded_at=one.at,
                usage=usage_of(answer),
                latency_ms=one.latency_ms,
                recorded_by=recorded_by,
            ),
        )
    return list(found.values())

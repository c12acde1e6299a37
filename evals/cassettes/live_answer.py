"""Download an answer within limits and check that it can be stored."""

import json
import zlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from evals.cassettes.cassette_schema import Usage, excess
from evals.cassettes.player import IncomingRequest
from evals.cassettes.request_key import parse_json
from evals.errors import NoAnswerError, RecordingError, RecordingStoppedError
from evals.secret_filter import scrub

MAX_ANSWER: Final = 8_000_000
"""Bytes: far more than any answer needs. Every later write of its case would read and write it again."""
_SHOWN: Final = 200  # characters of a refused answer in the error
_STREAM: Final = "text/event-stream"
_OUT_OF_CREDIT: Final = "insufficient_quota"
_OUT_OF_TIME: Final = "the limit still holds after the wait: run it again later, or with a lower --set concurrency"
_KEY: Final = "the key is not accepted: set the right one (OPENAI_API_KEY, or that of --set api_key_env)"
_MODEL: Final = "there is no such model or address: check `models:` in the suite, and that --base-url ends in /v1"
_ADVICE: Final = {
    401: _KEY,
    402: "the account is out of credit",
    403: "the key may not do this: use one that may, or name another model in the suite",
    404: _MODEL,
    429: _OUT_OF_TIME,
    "model_not_found": _MODEL,
    "invalid_api_key": _KEY,
    _OUT_OF_CREDIT: "the account is out of credit",
}
"""What to do about refusals that every request would meet, by status or by the error's own code."""
_SEARCH_KEY: Final = "set TAVILY_API_KEY to a key that works, or unset it to search the pages in datasets/web"
_SEARCH_ADVICE: Final = dict.fromkeys((401, 403, 429, 432), _SEARCH_KEY)


@dataclass(frozen=True)
class HttpReply:
    """What came over the wire, whichever library carried it. `retry_after` is that header, empty if there was none."""

    status: int
    content_type: str
    body: bytes
    retry_after: str = ""
    latency_ms: float = 0.0

    @property
    def is_success(self) -> bool:
        """Whether it is said to be an answer; anything else refuses one."""
        return 200 <= self.status <= 299

    @property
    def kind(self) -> str:
        """The content type without its parameters."""
        return self.content_type.partition(";")[0].strip().lower()

    @property
    def out_of_credit(self) -> bool:
        """Whether the refusal is about money: that does not pass by itself."""
        return self.status == 429 and _code(self) == _OUT_OF_CREDIT


Send = Callable[[], Awaitable[HttpReply]]


def is_stream(content_type: str) -> bool:
    """Whether a body of this type may never end."""
    return content_type.partition(";")[0].strip().lower() == _STREAM


def usable(request: IncomingRequest, reply: HttpReply) -> dict[str, Any]:
    """The answer's JSON object.

    Raises:
        RecordingStoppedError: no other request would fare better.
        RecordingError: this answer is no success, too large, no whole JSON, of another shape, or says of itself what
            cannot be (see `bounds`).
    """
    if not reply.is_success:
        raise refusal(request, reply)
    if len(reply.body) > MAX_ANSWER:
        cause = f"more than {MAX_ANSWER:,} bytes, which are not kept: set `max_output_tokens`"
        raise RecordingError(_said(request, cause, reply))
    if is_stream(reply.content_type) or reply.body.lstrip().startswith(b"data:"):
        cause = f"content type {reply.kind or 'missing'}, a stream: name an endpoint that answers in one piece"
        raise RecordingStoppedError(_said(request, cause, reply))
    if reply.kind != "application/json":
        cause = f"content type {reply.kind or 'missing'} where application/json is due"
        raise RecordingError(_said(request, cause, reply))
    try:
        answer = parse_json(reply.body)
    except ValueError:
        raise RecordingError(_said(request, "a body that is not whole JSON", reply)) from None
    if not isinstance(answer, dict) or not _fits(request.path.partition("?")[0], answer):
        raise RecordingError(_said(request, "JSON of another shape than the protocol's", reply))
    if found := excess(answer):
        raise RecordingError(_said(request, f"{found}, which is not kept", reply))
    if not _is_unicode(answer):
        raise RecordingError(_said(request, "text that is no Unicode (half a surrogate pair)", reply))
    return answer


_COUNTS: Final = (("input_tokens", "output_tokens"), ("promptTokenCount", "candidatesTokenCount"))
"""What Anthropic and OpenAI's responses, and Gemini, call the tokens of question and answer."""


def usage_of(answer: Mapping[str, Any]) -> Usage:
    """The tokens the server counted; zeros if it did not count. The answer has no `excess`."""
    usage = answer.get("usage") or answer.get("usageMetadata")
    counts = usage if isinstance(usage, Mapping) else {}
    for asked, answered in _COUNTS:
        if asked in counts and "prompt_tokens" not in counts:
            thoughts = counts.get("thoughtsTokenCount") or 0  # which Gemini does not count among those of the answer
            counts = {"prompt_tokens": counts[asked], "completion_tokens": (counts.get(answered) or 0) + thoughts}
    return Usage(**{name: counts[name] for name in Usage.model_fields if counts.get(name) is not None})


def unreachable(request: IncomingRequest, error: Exception, *, nobody_there: bool) -> NoAnswerError:
    """To be raised without the library's error as its cause: a header it refuses is quoted there, key included."""
    cause = scrub(f"{type(error).__name__}: {error}".rstrip(": "))
    message = f"no answer for {scrub(request.agent)} ({cause}): see that the endpoint is up, then run it again"
    return NoAnswerError(message, nobody_there=nobody_there)


def refusal(request: IncomingRequest, reply: HttpReply) -> RecordingError:
    """What to say of a reply that is no success."""
    searched = _path(request) == "/search"
    advice = _SEARCH_ADVICE.get(reply.status) if searched else _ADVICE.get(_code(reply)) or _ADVICE.get(reply.status)
    if advice is None:
        return RecordingError(_said(request, f"status {reply.status}", reply))
    about = f" about {request.model}" if advice is _MODEL else ""
    return RecordingStoppedError(_said(request, f"status {reply.status}{about}; {advice}", reply))


def _code(reply: HttpReply) -> str:
    """What the error calls itself, in OpenAI's shape; empty if it does not say."""
    try:
        error = parse_json(reply.body).get("error")
        return str(error.get("code") or "")
    except (ValueError, AttributeError):
        return ""


def _said(request: IncomingRequest, cause: str, reply: HttpReply) -> str:
    shown = " ".join(scrub(reply.body.decode(errors="replace")[: 10 * _SHOWN]).split())[:_SHOWN]
    return f"the endpoint answered {scrub(request.agent)} with {scrub(cause)}; nothing recorded: {shown!r}"


def _path(request: IncomingRequest) -> str:
    return request.path.partition("?")[0]


_MEMBERS: Final = {"usage": dict, "service_tier": str, "system_fingerprint": str, "id": str, "model": str}


def _fits(path: str, answer: Mapping[str, Any]) -> bool:
    if path.endswith("/chat/completions"):
        choices = answer.get("choices")
        whole = isinstance(choices, list) and bool(choices) and all(map(_is_whole_choice, choices))
        return whole and all(isinstance(answer.get(name), kind | None) for name, kind in _MEMBERS.items())
    if path == "/search":
        results = answer.get("results")
        return isinstance(results, list) and all(isinstance(result, dict) for result in results)
    return True


def _is_whole_choice(choice: object) -> bool:
    """A choice that has a message and says why it ended."""
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        return False
    ended, calls = choice.get("finish_reason"), choice["message"].get("tool_calls") or []
    if not (isinstance(ended, str) and ended and isinstance(calls, list)):
        return False
    return all(isinstance(call, dict) and isinstance(call.get("function"), dict) for call in calls)


def _is_unicode(answer: Mapping[str, Any]) -> bool:
    try:
        json.dumps(answer, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


_GZIP_OR_ZLIB: Final = 47  # zlib's own sign for "whichever of the two it is"


def sending(ours: IncomingRequest, handle: Callable[[], Awaitable[Any]], library: ModuleType) -> Send:
    """Asks the live transport once; `library` is httpx or httpx2: the same names, other classes."""

    async def send() -> HttpReply:
        try:
            response = await handle()
            async with aclosing(response):
                kind = response.headers.get("content-type", "")
                body = b"" if is_stream(kind) else await _body(response)  # a stream may never end
        except (library.HTTPError, zlib.error) as error:
            nobody_there = isinstance(error, (library.ConnectError, library.ConnectTimeout))
            raise unreachable(ours, error, nobody_there=nobody_there) from None
        return HttpReply(response.status_code, kind, body, response.headers.get("retry-after", ""))

    return send


async def _body(response: Any) -> bytes:  # noqa: ANN401 - of httpx or httpx2
    """Unpacked; of what is longer than any answer, a little more than the longest: enough to be refused for it."""
    raw = bytearray()
    async for piece in response.stream:  # as it came: the library would unpack a piece of 64 kB to any size
        raw += piece
        if len(raw) > MAX_ANSWER:
            break
    encoding = response.headers.get("content-encoding", "").strip().lower() or "identity"
    if encoding == "identity":
        return bytes(raw)
    if encoding not in {"gzip", "deflate"}:
        raise RecordingError(f"the endpoint packs its answers as {encoding[:20]!r}, unasked: switch that off there")
    return zlib.decompressobj(_GZIP_OR_ZLIB).decompress(bytes(raw), MAX_ANSWER + 1)

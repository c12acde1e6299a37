"""Shortcut for the SDKs of OpenAI and Anthropic: in a replay they get a recorded answer before they build a request.

The SDK still makes the body, and reads the answer, by its own code; what is spared is its HTTP client. A request that
is not recorded, a stream, and a client that may change its requests take the way over HTTP, as does an SDK whose inner
names are others.
"""

import inspect
import json
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from evals.shortcut_switch import is_plain
from evals.target.http_capture import SentRequest, current_trial, recorded

_SDKS: Final = ("openai", "anthropic")
_CLIENTS: Final = frozenset({*_SDKS, "langchain_openai", "langchain_anthropic"})
"""Packages whose HTTP clients send what they are given."""
_READING: Final = frozenset({"cast_to", "options", "response", "stream", "stream_cls"})


def sdk_hooks() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """(owner, name, wrapper of its method) for each SDK that is imported by now."""
    for sdk in () if is_plain() else _SDKS:
        base = sys.modules.get(f"{sdk}._base_client")
        for name, wrap in (("SyncAPIClient", _answered), ("AsyncAPIClient", _answered_async)):
            owner = getattr(base, name, None)
            reads = getattr(owner, "_process_response", None)
            if hasattr(owner, "request") and reads and inspect.signature(reads).parameters.keys() >= _READING:
                yield owner, "request", wrap
    if hasattr(chat := sys.modules.get("langchain_openai.chat_models.base"), "run_in_executor") and not is_plain():
        yield chat, "run_in_executor", _in_place


def _answered(original: Any) -> Any:  # noqa: ANN401 - a method
    def request(self: Any, cast_to: Any, options: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        response = _response(self, options, **kwargs)
        if response is None:
            return original(self, cast_to, options, *args, **kwargs)
        return self._process_response(
            cast_to=cast_to, options=options, response=response, stream=False, stream_cls=None
        )

    return request


def _answered_async(original: Any) -> Any:  # noqa: ANN401 - a method
    asked = _answered(original)

    async def request(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return await asked(self, *args, **kwargs)

    return request


def _response(client: Any, options: Any, *, stream: bool = False, **_: Any) -> Any:  # noqa: ANN401 - of httpx or httpx2
    """The recorded answer as the HTTP client gives it, but that its request has only the headers of this call; None for
    a request that has to be sent."""
    try:
        given = options.headers if isinstance(options.headers, dict) else {}
        headers = {name: value for name, value in given.items() if type(value).__name__ != "Omit"}
        if stream or not _is_plain(client, options, headers):
            return None
        body = json.dumps({**options.json_data, **(options.extra_json or {})}).encode()
        url = _url(client.base_url, options.url)
    except (AttributeError, TypeError, ValueError):  # another version of the SDK, or a value that is not JSON by itself
        return None
    found = recorded(SentRequest("POST", url.host, url.raw_path.decode("ascii"), body))
    if found is None:
        return None
    library = sys.modules[type(url).__module__.partition(".")[0]]
    request = library.Request("POST", url, headers=headers, content=body)
    return library.Response(found.status, headers=found.headers, content=found.body, request=request)


def _is_plain(client: Any, options: Any, headers: dict[str, Any]) -> bool:  # noqa: ANN401 - the SDK's
    """Whether the request consists of a JSON body at the SDK's own address, and nobody changes it or its answer."""
    return (
        options.method.lower() == "post"
        and type(client).__module__.partition(".")[0] in _SDKS
        and type(client).__name__.removeprefix("Async") in {"OpenAI", "Anthropic"}
        and type(client._client).__module__.partition(".")[0] in _CLIENTS  # noqa: SLF001 - the HTTP client
        and not any(client._client.event_hooks.values())  # noqa: SLF001
        and getattr(client, "_middleware_chain", None) is None
        and not (options.params or client.default_query or options.files or getattr(options, "content", None))
        and all(isinstance(value, str) and value != "stream" for value in headers.values())
    )


def _in_place(original: Any) -> Any:  # noqa: ANN401 - a function of LangChain
    """What LangChain makes of an answer, in the thread that has it: a thread for it costs more than the work."""

    async def run_in_executor(executor: Any, work: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        trial = current_trial.get()
        if executor is not None or trial is None or trial.recording is not None:
            return await original(executor, work, *args, **kwargs)
        return work(*args, **kwargs)

    return run_in_executor


@lru_cache(maxsize=64)
def _url(base: Any, path: str) -> Any:  # noqa: ANN401 - of httpx or httpx2
    """As the SDKs merge them."""
    url = type(base)(path)
    return base.copy_with(raw_path=base.raw_path + url.raw_path.lstrip(b"/")) if url.is_relative_url else url

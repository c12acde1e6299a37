"""HTTP service of the agents: accepted hosts, bearer token, bounded JSON bodies, `POST /agents/{name}/invoke`."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Body, FastAPI, HTTPException, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from langchain_core.runnables import Runnable
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triage.agents import AGENTS
from triage.agents.agent import Toolbox, describe
from triage.errors import ConfigurationError
from triage.settings import is_loopback


def app(toolbox: Toolbox, repository: str = "") -> FastAPI:
    """The service, which searches the one `repository`, whatever it is called if that is empty. 404: no such agent;
    422: the input is not what the agent reads, or names another repository; 502: the agent failed."""
    service = FastAPI(title="bug-triage agents")
    service.add_exception_handler(RequestValidationError, _refused)
    chains: dict[str, Runnable[Any, Any]] = {}

    @service.get("/health")
    async def health() -> dict[str, Any]:
        return {"status": "ok", "agents": list(AGENTS)}

    @service.post("/agents/{name}/invoke")
    async def invoke(name: str, given: Annotated[dict[str, Any], Body(alias="input", embed=True)]) -> dict[str, Any]:
        agent = next((agent for agent in AGENTS.values() if agent.name == name), None)
        if agent is None:
            raise HTTPException(404, f"no agent {name!r}; there are {', '.join(AGENTS)}")
        try:
            checked = agent.input_model.model_validate(given)
        except ValidationError as error:
            told = error.errors(include_url=False, include_input=False, include_context=False)
            raise HTTPException(422, told) from error
        wanted = getattr(checked, "repository", "")
        if name == "codebase_search" and repository and wanted not in ("", repository):
            raise HTTPException(422, f"this service searches {repository!r}, not {wanted!r}: ask one that has it")
        try:
            if name not in chains:
                chains[name] = agent.chain(toolbox)
            output = await chains[name].ainvoke(checked)
        except Exception as error:  # the caller counts it as a failed visit, and should know whose fault it is
            raise HTTPException(502, describe(error)) from error
        return {"output": output.model_dump(mode="json")}

    return service


async def _refused(_request: Request, error: Exception) -> JSONResponse:
    """422 with what is wrong and where, and without what was sent: NaN, which Python reads, cannot be sent back."""
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    told = [{name: problem[name] for name in ("type", "loc", "msg") if name in problem} for problem in problems]
    return JSONResponse({"detail": jsonable_encoder(told)}, status_code=422)


TOKEN: Final = "TRIAGE_SERVICE_TOKEN"  # noqa: S105 - the name of the variable
BODY_LIMIT: Final = 1_000_000
"""Bytes of one request; an issue with its comments and findings has some ten thousand."""
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1", "[::1]")
HEALTH: Final = "/health"
BODILESS: Final = ("GET", "HEAD")


@dataclass(frozen=True)
class Access:
    """Who may ask: by one of these names of the host, and with the token, where there is one."""

    hosts: tuple[str, ...] = LOOPBACK
    token: str = ""

    @classmethod
    def to(cls, host: str, token: str, names: Sequence[str] = ()) -> "Access":
        """Access to a service that listens on `host` and goes by further `names`.

        Raises:
            ConfigurationError: others can reach `host`, and there is no token.
        """
        if not is_loopback(host) and not token:
            raise ConfigurationError(
                f"--host {host}: other machines can reach it; set {TOKEN} here and where the agents are asked, "
                "or listen on 127.0.0.1"
            )
        own = () if host in ("", "0.0.0.0", "::") else (host,)  # noqa: S104 - an address that is no name
        return cls(tuple(dict.fromkeys([*LOOPBACK, *own, *names])), token)


def guarded(service: ASGIApp, access: Access) -> ASGIApp:
    """The service behind the rules. 400: another host name; 401: no token, or a wrong one; 413: the body is larger than
    `BODY_LIMIT`; 415: it is no JSON."""
    return TrustedHostMiddleware(_Rules(service, access.token), allowed_hosts=access.hosts, www_redirect=False)


@dataclass(frozen=True)
class _Rules:
    service: ASGIApp
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.service(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._refusal(scope, headers)
        body = b"" if refused or scope["method"] in BODILESS else await _body(headers, receive)
        if body is None:
            refused = 413, f"a body of more than {BODY_LIMIT:,} bytes is not read"
        if refused:
            await JSONResponse({"detail": refused[1]}, refused[0])(scope, receive, send)
            return
        await self.service(scope, _replayed(body or b"", receive), send)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        given = headers.get("authorization", "")
        if self.token and scope["path"] != HEALTH and not _same(given, f"Bearer {self.token}"):
            return 401, f"give the token of {TOKEN} as a bearer token"
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] not in BODILESS and kind != "application/json":
            return 415, "the body has to be application/json"
        return None


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode("utf-8", "surrogateescape"))


async def _body(headers: Headers, receive: Receive) -> bytes | None:
    """The body; None where it is too large, and read no further than that."""
    told = headers.get("content-length", "")
    if told.isdecimal() and int(told) > BODY_LIMIT:
        return None
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > BODY_LIMIT:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, then whatever else comes."""
    given = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return given.pop() if given else await receive()

    return next_message

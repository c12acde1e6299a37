"""Agents as services: `POST /agents/{name}/invoke` with `{"input": …}` answers `{"output": …}`.

The wire format is LangServe's, without its package: a dozen lines here against a dependency that no longer
moves. `GET /health` says that the service is up, and whom it serves. `app` serves every agent of the team; run one
process per agent or one for all, as load demands.
"""

from typing import Annotated, Any

from fastapi import Body, FastAPI, HTTPException, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from langchain_core.runnables import Runnable
from pydantic import ValidationError

from triage.agents import AGENTS
from triage.agents.agent import Toolbox
from triage.agents.visit import describe


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

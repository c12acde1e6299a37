"""Settings of a deployment from `TRIAGE_...` variables: endpoints, keys, models, timeouts; no logins in addresses."""

import ipaddress
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from pydantic import Field, PositiveFloat, PositiveInt, PrivateAttr, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from triage.errors import ConfigurationError

_LOGIN: Final = re.compile(r"(?<=//)[^/?#\s]*@")


def without_login(address: str) -> str:
    """The address without user and password."""
    return _LOGIN.sub("", address, count=1)


def login_in(address: str) -> tuple[str, str] | None:
    """User and password in the address, percent signs decoded; None where there are none."""
    found = _LOGIN.search(address)
    if found is None:
        return None
    user, _, password = found[0].removesuffix("@").partition(":")
    return unquote(user), unquote(password)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the host, a name or an IP address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_of(address: str) -> str:
    """The host in the address; "" where there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


LARGE_MODEL: Final = "gpt-4o"
SMALL_MODEL: Final = "gpt-4o-mini"

# Reading and searching is extraction; weighing, criticising and writing is where a larger model pays.
_MODELS: Final = {
    "supervisor": LARGE_MODEL,
    "investigator": SMALL_MODEL,
    "codebase_search": LARGE_MODEL,
    "web_search": SMALL_MODEL,
    "critic": LARGE_MODEL,
    "writer": LARGE_MODEL,
}
PREFIX: Final = "TRIAGE_"
OTHERS: Final = ("TRIAGE_REPO", "TRIAGE_PATH", "TRIAGE_CACHE_DIR")
"""Variables that are read elsewhere."""
SERVICES: Final = tuple(agent for agent in _MODELS if agent != "supervisor")
"""Agents that can run as services."""
# A fallback is asked because its primary is rate-limited, so it is never the same model.
_FALLBACKS: Final = {agent: LARGE_MODEL if model == SMALL_MODEL else SMALL_MODEL for agent, model in _MODELS.items()}


class Settings(BaseSettings):
    """One deployment. Mappings are given as JSON, e.g. `TRIAGE_MODELS='{"critic": "gpt-4o-mini"}'`, and are
    laid over the defaults, so naming one agent leaves the others alone.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    base_url: str = "https://api.openai.com/v1"
    """An OpenAI-compatible endpoint, `/v1` included; a gateway or a local server will do."""
    api_key: SecretStr = SecretStr("")
    tavily_base_url: str = "https://api.tavily.com"
    tavily_api_key: SecretStr = SecretStr("")
    timeout_s: PositiveFloat = 60.0
    """Seconds one request may take, for the LLM, the web search and remote agents alike."""
    max_output_tokens: PositiveInt | None = None
    """Upper bound of one answer in tokens; None leaves it to the endpoint."""
    models: dict[str, str] = Field(default_factory=dict, validate_default=True)
    """Model by agent name."""
    fallbacks: dict[str, str] = Field(default_factory=dict, validate_default=True)
    """Model by agent name, asked once when the agent's own model stays rate-limited."""
    agent_urls: dict[str, str] = Field(default_factory=dict)
    """Service URL by agent name; an agent that is not named here runs in this process."""
    service_token: SecretStr = SecretStr("")
    """Bearer token of the agents' services: asked for by `triage serve`, and sent to the addresses in `agent_urls`."""
    retry_jitter: bool = True
    """Wait (exponentially, with jitter) between attempts. Off in replay, where waiting helps nobody."""

    _logins: dict[str, tuple[str, str]] = PrivateAttr(default_factory=dict)

    def with_logins_apart(self) -> Self:
        """The same settings, no address with a login in it, which would be stored and printed with the address."""
        urls = {"base_url": self.base_url, "tavily_base_url": self.tavily_base_url, **self.agent_urls}
        bare = {name: without_login(url) for name, url in urls.items()}
        agents = {name: bare[name] for name in self.agent_urls}
        ours = ("base_url", "tavily_base_url")
        apart = self.model_copy(update={**{name: bare[name] for name in ours}, "agent_urls": agents})
        apart._logins = {bare[name]: login for name, url in urls.items() if (login := login_in(url))}  # noqa: SLF001 - of the same class
        return apart

    @property
    def logins(self) -> dict[str, tuple[str, str]]:
        """User and password by address, where an address had them."""
        return self._logins

    @field_validator("base_url", "tavily_base_url")
    @classmethod
    def _with_a_scheme(cls, url: str) -> str:
        if not url.startswith(("http://", "https://")):
            shown = url.rpartition("@")[2]  # a login before it is a secret
            raise ValueError(f"{shown!r} is no address: begin it with http:// or https://")
        return url

    @field_validator("models", "fallbacks", "agent_urls")
    @classmethod
    def _of_agents_there_are(cls, named: dict[str, str], field: ValidationInfo) -> dict[str, str]:
        """A misspelt name would change nothing, without a word."""
        known = SERVICES if field.field_name == "agent_urls" else (*_MODELS, "human_input")
        unknown = [name for name in named if name not in known]
        if unknown:
            raise ValueError(f"no agent is called {unknown[0]!r}; there are {', '.join(known)}")
        return named

    @field_validator("agent_urls")
    @classmethod
    def _each_with_a_scheme(cls, urls: dict[str, str]) -> dict[str, str]:
        return {name: cls._with_a_scheme(url) for name, url in urls.items()}

    @field_validator("models")
    @classmethod
    def _over_default_models(cls, named: dict[str, str]) -> dict[str, str]:
        return _MODELS | named

    @field_validator("fallbacks")
    @classmethod
    def _over_default_fallbacks(cls, named: dict[str, str]) -> dict[str, str]:
        return _FALLBACKS | named

    def model_of(self, agent: str, *, fallback: bool = False) -> str:
        """The model name for `agent`, or for its fallback.

        Raises:
            ConfigurationError: no model is known for this agent.
        """
        variable, known = ("fallbacks", self.fallbacks) if fallback else ("models", self.models)
        if agent not in known:
            raise ConfigurationError(
                f"no model for {agent!r}: name one in TRIAGE_{variable.upper()} ({', '.join(known)})"
            )
        return known[agent]


def unknown_variables(environment: Iterable[str]) -> list[str]:
    """One line for each variable that begins with TRIAGE_ and is read by nobody, with the nearest that is."""
    known = [name.upper() for name in Settings.model_fields] + [name.removeprefix(PREFIX) for name in OTHERS]
    unknown = sorted(name for name in environment if name.upper().startswith(PREFIX) and _bare(name) not in known)
    return [f"{name} is no variable of triage and changes nothing; {_near(name, known)}" for name in unknown]


def _bare(name: str) -> str:
    return name.upper().removeprefix(PREFIX)


def _near(name: str, known: list[str]) -> str:
    near = [PREFIX + found for found in get_close_matches(_bare(name), known, n=2)]
    return f"did you mean {' or '.join(near)}?" if near else "docs/live.md lists those there are"


DEFAULT_JOBS: Final = Path(".triage/jobs.sqlite")
JOB_FILES: Final = ("report.md", "report.json", "comment.md", "ticket.json", "trace.json")
"""Files that jobs write to their folder."""

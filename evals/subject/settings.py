"""The settings of a trial: made from the suite alone, since the machine's environment must not change a request."""

from typing import Final

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from evals.models.suite import Models
from triage.settings import Settings
from triage.state import WORKERS

BASE_URL: Final = "http://llm.invalid/v1"
TAVILY_BASE_URL: Final = "http://tavily.invalid"
AGENTS: Final = ("supervisor", *WORKERS)


class SuiteSettings(Settings):
    """Settings that read nothing but their arguments; a mapping in `TRIAGE_…` would be laid under ours."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic-settings passes all five by name
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The arguments."""
        return (init_settings,)


def settings_of(models: Models) -> Settings:
    """Settings that depend on the suite alone: the environment of the machine must not change a request."""
    return SuiteSettings(
        base_url=BASE_URL,
        api_key="not-needed",
        tavily_base_url=TAVILY_BASE_URL,
        tavily_api_key="not-needed",
        timeout_s=600,
        max_output_tokens=models.max_output_tokens,
        models={agent: models.agents.get(agent, models.default) for agent in AGENTS},
        fallbacks=dict.fromkeys(AGENTS, models.fallback),
        agent_urls={},
        retry_jitter=False,
    )

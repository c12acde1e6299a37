"""What a job runs with: the choices of the command line, what they default to, and what a resumed job began with.

They are kept beside the job's checkpoints as LangGraph's own metadata, by name: a prompt's text is never stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from triage.configuration import Configuration
from triage.errors import InputError
from triage.plans import MODES, starts_from_a_plan
from triage.prompts import load_supervisor_prompt

DEFAULT_PROMPTS: Final = {"llm": "v3", "registry": "v4", **dict.fromkeys(MODES, "plan-v1")}
DEFAULT_PLAN: Final = "linear"
_PREFIX: Final = "triage_"
"""Before each name in the metadata, which LangGraph shares with its own entries."""


@dataclass(frozen=True)
class Options:
    """Names as the command line has them; None: not said."""

    supervisor: str | None = None
    prompt: str | None = None
    plan: str | None = None
    guards: str | None = None

    def completed(self) -> Self:
        """What a new job runs with: what was not said is what suits its supervisor."""
        supervisor = self.supervisor or "llm"
        planned = supervisor in MODES and starts_from_a_plan(MODES[supervisor])
        return type(self)(
            supervisor=supervisor,
            prompt=self.prompt or DEFAULT_PROMPTS.get(supervisor),
            plan=self.plan or (DEFAULT_PLAN if planned else None),
            guards=self.guards or "hardened",
        )

    def continued(self, begun: Self) -> Self:
        """What a resumed job runs with: what it was begun with, under another prompt or guard set where one is named.

        Raises:
            InputError: another supervisor or plan is named, which could not read what the job has left.
        """
        for option in ("supervisor", "plan"):
            said, was = getattr(self, option), getattr(begun, option)
            if said not in (None, was):
                told = f"with --{option} {was}" if was else f"without --{option}"
                raise InputError(f"this job was begun {told}: leave --{option} out to go on, or start a new job")
        return type(self)(begun.supervisor, self.prompt or begun.prompt, begun.plan, self.guards or begun.guards)

    def configuration(self) -> Configuration:
        """The configuration these completed options name.

        Raises:
            ConfigurationError: a prompt that is not there or does not fit, or a plan where none is followed.
        """
        prompt = None if self.prompt is None else load_supervisor_prompt(self.prompt)
        return Configuration(
            prompt=prompt, guards=self.guards or "hardened", supervisor=self.supervisor or "llm", plan=self.plan
        )

    def metadata(self) -> dict[str, str]:
        """As they are kept beside a job."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {_PREFIX + name: value for name, value in said.items() if value is not None}

    @classmethod
    def from_metadata(cls, kept: Mapping[str, Any]) -> Self:
        """The options in `kept`; a job stored before there was a choice has none, and gets the defaults."""
        return cls(**{field.name: kept.get(_PREFIX + field.name) for field in fields(cls)}).completed()

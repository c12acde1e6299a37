"""Configuration of the graph: what a variant may vary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from triage.errors import ConfigurationError
from triage.prompts.load import SupervisorPrompt
from triage.state import Confidence, ConfidenceFloor, PlanLimits, Value

DEFAULT_MAX_RETRIES: Final = 2
FILTER: Final = 0.20
"""The similarity from which a chunk counts as a match: what the cases' own hypotheses find lies above, chance below."""
UNFILTERED_BAR: Final = 0.75
"""The lowest bar for confidence where weak matches are let through: they make a weak answer sound sure."""


class RulesSettings(Value):
    """The numbers the `rules` supervisor decides by (seed 001).

    `low_confidence` and `min_score` are coupled: a bar below 0.75 rests on the filter at 0.20 or above. With a stricter
    filter the bar may be raised, it need not be.
    """

    low_confidence: Confidence = 0.65
    min_score: Confidence = FILTER
    max_retries: Annotated[int | None, Field(ge=0)] = None
    """Searches beyond the first; None and 0 both mean two, as the seed has it."""
    review_below: Confidence = 0.85
    """A draft as sure as this goes unreviewed: it needs no second opinion; 1 has all but certain ones reviewed."""
    chunks: Annotated[int, Field(ge=1)] = 5
    """What the first search reads; each further one reads as many more."""

    @property
    def retries(self) -> int:
        """How often a search is repeated before anybody is asked."""
        return self.max_retries or DEFAULT_MAX_RETRIES

    @model_validator(mode="after")
    def _coupled(self) -> Self:
        if self.min_score < FILTER and self.low_confidence < UNFILTERED_BAR:
            raise ValueError(
                f"low_confidence {self.low_confidence:.2f} with min_score {self.min_score:.2f} lets weak matches sound "
                f"sure: raise low_confidence to {UNFILTERED_BAR:.2f} or min_score to {FILTER:.2f}"
            )
        return self


@dataclass(frozen=True)
class Configuration:
    """The supervisor with its prompt or its settings, the guard set by name, and thresholds to enforce in code, if any.

    Raises:
        ConfigurationError: the prompt is not one this supervisor can follow.
    """

    prompt: SupervisorPrompt | None = None
    guards: str = "hardened"
    confidence_floor: ConfidenceFloor | None = None
    supervisor: str = "llm"
    plan: str | None = None
    """A shipped plan or a .yaml file, for the plan supervisors that start from one."""
    plan_limits: PlanLimits = field(default_factory=PlanLimits)
    rules: RulesSettings = field(default_factory=RulesSettings)
    forced: Mapping[int, str] = field(default_factory=dict)
    """Iteration -> the node that is forced there in place of the one that the supervisor chose."""

    def __post_init__(self) -> None:
        """A prompt that asks for another kind of reply would fail at every decision; better at none."""
        if self.supervisor == "rules" and self.prompt is not None:
            raise ConfigurationError("supervisor 'rules' reads no prompt: leave `prompt` out")
        if self.plan is not None and not self.supervisor.startswith("plan-"):
            raise ConfigurationError(f"supervisor {self.supervisor!r} follows no plan: leave `plan` out")
        if self.supervisor in ("llm", "registry") or self.supervisor.startswith("plan-"):
            self._check(self.needed_prompt)

    @property
    def needed_prompt(self) -> SupervisorPrompt:
        """The prompt, for a supervisor that cannot do without one."""
        if self.prompt is None:
            raise ConfigurationError(f"supervisor {self.supervisor!r} needs a prompt: name one with `prompt`")
        return self.prompt

    def _check(self, prompt: SupervisorPrompt) -> None:
        if prompt.supervisor != self.supervisor.partition("-")[0]:
            raise ConfigurationError(
                f"prompt {prompt.version} is written for supervisor {prompt.supervisor!r}, not {self.supervisor!r}: "
                "name another prompt, or another supervisor"
            )


class Thresholds(Value):
    """What the file may say; what it leaves out has its default. `confidence_floor` is enforced in code only where it
    is named."""

    rules: RulesSettings | None = None
    plan_limits: PlanLimits | None = None
    confidence_floor: ConfidenceFloor | None = None

    @classmethod
    def of(cls, path: Path) -> Self:
        """The thresholds in the YAML file at `path`.

        Raises:
            ConfigurationError: no such file, no YAML, or a threshold that does not exist or goes too far.
        """
        try:
            return cls.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"--thresholds {path}: cannot be read; name a YAML file") from error
        except yaml.YAMLError as error:
            raise ConfigurationError(f"{path}: not YAML ({str(error).splitlines()[0]})") from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            said = first["msg"].removeprefix("Value error, ")
            raise ConfigurationError(f"{path}: {where}: {said}; docs/live.md has an example") from error

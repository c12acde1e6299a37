"""Thresholds of a deployment in one file, in the words a suite has for them."""

from pathlib import Path
from typing import Self

import yaml
from pydantic import ValidationError

from triage.configuration import RulesSettings
from triage.errors import ConfigurationError
from triage.state import ConfidenceFloor, PlanLimits, Value


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

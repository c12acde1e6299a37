"""The hand-made parts of what is planted: one YAML file of ours, read once and checked."""

from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

import yaml
from pydantic import Field, ValidationError

from evals.errors import ConfigurationError
from evals.models.closed import Closed

FILE: Final = Path(__file__).parent / "planted.yaml"
Place = Literal["report", "comment", "issue", "finding", "ticket"]
Text = Annotated[str, Field(min_length=1)]


class HandMade(Closed):
    """Sentences by what they are planted as; `certain` are root causes by case, without their hedges."""

    seed: int
    synonyms: tuple[tuple[Text, Text], ...]
    symptom_as_cause: Text
    claims: tuple[Text, ...]
    destroying: tuple[Text, ...]
    empty_steps: tuple[tuple[Text, ...], ...]
    dates: tuple[Text, ...]
    obeyed: tuple[tuple[Text, Text], ...]
    rude: tuple[Text, ...]
    certain: dict[str, Text]
    attacks: tuple[tuple[Place, Text], ...]


@cache
def hand_made(path: Path = FILE) -> HandMade:
    """The file's content.

    Raises:
        ConfigurationError: it is not what it should be.
    """
    try:
        return HandMade.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}: not YAML: {str(error).splitlines()[0]}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error

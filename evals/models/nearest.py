"""How a request that missed differs from the nearest one that was recorded."""

from typing import Annotated

from pydantic import Field

from evals.models.closed import Closed
from evals.models.suite import Fraction


class Difference(Closed):
    """One place where two requests part; `recorded` and `asked` are its lines, shortened to what a person reads.

    `path` is the place in the body as JSON, `line` the line of its text where it begins (from 1; 0: no text of lines),
    `after` and `before` the shared lines around it. `volatile` names what the lines differ in where that is nothing but
    text that changes by itself, such as a time.
    """

    path: str
    line: Annotated[int, Field(ge=0)] = 0
    recorded: str
    asked: str
    after: str = ""
    before: str = ""
    volatile: tuple[str, ...] = ()


class Nearest(Closed):
    """The recorded request of the same agent that comes closest: first by system prompt, then by all the rest.

    `key` and `sample` name it. `alike` is the share of words the two have in common, `prompt_alike` the same for their
    system prompts alone; `prompt_digest` is that of the recorded system prompt.
    """

    key: str
    sample: Annotated[int, Field(ge=0)] = 0
    alike: Fraction
    prompt_alike: Fraction
    prompt_digest: str = ""
    differences: tuple[Difference, ...] = ()

"""What was said in each call, out of the cassettes: a run holds the keys of its calls, not their words."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from evals.cassette.allowed_secrets import AllowedSecrets, allowed_beside
from evals.cassette.hold_back import fit_to_write
from evals.cassette.readings import FOLDER, Readings
from evals.cassette.store import Cassette, Interaction, load
from evals.models.trace import Call
from evals.otlp import names
from evals.otlp.messages import answered, asked, found, looked_for
from evals.otlp.planned import Attributes
from evals.workspace import Workspace


class Tapes:
    """The cassettes of a checkout. `untold` counts the calls that none of them holds."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.untold = 0

    def words_of(self, call: Call, case: str, sample: int) -> Attributes:
        """What was asked and answered, in the conventions' form; nothing where it is not on tape.

        Raises:
            CassetteError: the case's cassette cannot be trusted.
        """
        cassette, allowed = self._case(case)
        interaction = cassette.exact(call.key, sample)
        if interaction is None:
            self.untold += 1
            return {}
        return {name: _fit(text, allowed) for name, text in _words(interaction).items() if text}

    @lru_cache(maxsize=2)  # noqa: B019 - as short-lived as the export; trials of one case follow each other
    def _case(self, case: str) -> tuple[Cassette, AllowedSecrets]:
        path = self._workspace.cassette(case)
        return load(path, Readings(self._workspace.cache / FOLDER)), allowed_beside(path)


def _words(interaction: Interaction) -> Mapping[str, str]:
    if _is_search(interaction.response):
        return {
            names.TOOL_ARGUMENTS: looked_for(interaction.request),
            names.TOOL_RESULT: found(interaction.response),
        }
    return {
        names.INPUT_MESSAGES: asked(interaction.request),
        names.OUTPUT_MESSAGES: answered(interaction.response),
    }


def _is_search(response: Mapping[str, Any]) -> bool:
    """Whether it is what a search engine answers, and no model."""
    return "choices" not in response


def _fit(text: str, allowed: AllowedSecrets) -> str:
    """Only the part that holds a secret is withheld, not the whole conversation; half a character is none."""
    return fit_to_write(text.encode("utf-8", "replace").decode(), allowed)

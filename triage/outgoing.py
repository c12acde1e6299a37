"""Checks of text before it leaves the machine: for posts to GitHub and for queries to the search service."""

import os
from typing import Final

from triage.secrecy.held import hold
from triage.secrecy.rules import secrets_in

QUERY_LIMIT: Final = 300
"""Characters of a search query that are sent. The longest query ever recorded has 186."""
_ORDINARY: Final = ("email", "high_entropy")
"""Rules that do not count: e-mail addresses and random words stand in many an issue."""


def hold_own_keys() -> None:
    """From now on the keys in this process's environment count as secrets wherever they are seen."""
    hold(*(value for name, value in os.environ.items() if name.endswith(("_KEY", "_TOKEN"))))


def secret_in(text: str) -> str | None:
    """The rule by which the text looks like it holds a secret; None where it does not."""
    return next((sighting.rule for sighting in secrets_in(text) if sighting.rule not in _ORDINARY), None)


def shortened_query(query: str) -> str:
    """The query, cut at a word where it is longer than `QUERY_LIMIT` characters."""
    if len(query) <= QUERY_LIMIT:
        return query
    whole = query[: QUERY_LIMIT + 1].rpartition(" ")[0]
    return (whole or query[:QUERY_LIMIT]).rstrip()

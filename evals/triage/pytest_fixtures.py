"""Fixtures of the triage pack for pytest."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from evals.triage.pytest_replay import TriageReplay


@pytest.fixture
def replayed(request: pytest.FixtureRequest) -> "TriageReplay":
    """`replayed(case)`: the graph on the recorded answers of one case; see docs/pytest.md."""
    from evals.triage.pytest_replay import TriageReplay  # noqa: PLC0415 - only where it is asked for

    return TriageReplay(request.config.rootpath)

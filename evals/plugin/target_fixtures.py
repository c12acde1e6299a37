"""Fixtures for pytest of projects with a graph of their own."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from evals.plugin.replay_fixture import ReplayFixture


@pytest.fixture
def replayed(request: pytest.FixtureRequest) -> "ReplayFixture":
    """`replayed(case).trace`: one trial of a suite, from its cassette; see docs/pytest.md."""
    from evals.plugin.replay_fixture import ReplayFixture  # noqa: PLC0415 - only where it is asked for

    return ReplayFixture(request.config.rootpath)

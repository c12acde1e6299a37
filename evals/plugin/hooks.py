"""What pytest loads of us at every start: one option and one fixture. All else waits until either is used."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from evals.plugin.replayed import Replay

MARK: Final = "evals: a trial or a verdict of a suite, added by --evals"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one option."""
    parser.getgroup("evals", "evals: recorded suites as tests").addoption(
        "--evals",
        action="append",
        default=[],
        metavar="SUITE",
        help="Run this suite offline: each case under each variant is a test, and so are verdict, coverage, baseline "
        "(repeatable). Test files are collected beside it only where they are named.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Without the option nothing more of us takes part. Raises UsageError for a suite that is none."""
    suites: Sequence[str] = config.getoption("--evals")
    if not suites:
        return
    from evals.plugin.collect import Suites  # noqa: PLC0415 - only where it is asked for

    config.addinivalue_line("markers", MARK)
    config.pluginmanager.register(Suites.asked(config, suites), "evals-suites")


@pytest.fixture
def replayed(request: pytest.FixtureRequest) -> "Replay":
    """`replayed(case)`: the graph on the recorded answers of one case; see docs/pytest.md."""
    from evals.plugin.replayed import Replay  # noqa: PLC0415 - only where it is asked for

    return Replay(request.config.rootpath)

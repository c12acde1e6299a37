"""The pytest plugin's hooks: one option, and the fixtures of the pack."""

from collections.abc import Sequence
from typing import Final

import pytest

from evals.application_pack import installed_pack
from evals.project import Project

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
    """Without the option nothing but the pack's fixtures takes part. Raises UsageError for a suite that is none."""
    pack = installed_pack(Project.at(config.rootpath).pack, config.rootpath)
    for name in pack.pytest_plugins if pack else ():
        config.pluginmanager.import_plugin(name)
    suites: Sequence[str] = config.getoption("--evals")
    if not suites:
        return
    from evals.plugin.suite_tests import Suites  # noqa: PLC0415 - only where it is asked for

    config.addinivalue_line("markers", MARK)
    config.pluginmanager.register(Suites.asked(config, suites), "evals-suites")

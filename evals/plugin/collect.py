"""Where the tests of a suite come from: a node for the suite, one for each variant, and the trials below them.

A test's id is `SUITE::VARIANT::CASE`, the names that `junit.xml` has too. It begins with no file: where the package is
installed says nothing about a suite. Ids on the command line are therefore taken out before pytest looks for files.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from evals.errors import CannotJudgeError, EvalsError
from evals.pipeline.load import LoadedSuite, load_suite
from evals.plugin.items import CHECKS, TOLD, CheckItem, TrialItem
from evals.plugin.suite_run import SuiteRun
from evals.report.view.scope import in_words
from evals.suites.load import load_suite as read_suite
from evals.suites.load import suite_file

SEP: Final = "::"


@dataclass(eq=False)
class Suites:
    """The plugin of one session: `named` are the suites as they were typed, by their own names; `ids` the tests that
    were named; all where that is empty."""

    named: dict[str, str]
    ids: tuple[str, ...]

    @classmethod
    def asked(cls, config: pytest.Config, suites: Sequence[str]) -> "Suites":
        """Read which suites they are, and take the ids of their tests from what pytest looks for as files.

        Raises:
            pytest.UsageError: no such suite, or a suite file that does not validate.
        """
        try:
            named = {read_suite(suite).name: suite for suite in suites}
        except EvalsError as error:
            raise pytest.UsageError(f"--evals: {error}") from error
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = []  # a suite was asked for, and no file
        own = tuple(each for each in config.args if SEP in each and each.split(SEP)[0] in named)
        config.args = [each for each in config.args if each not in own]
        return cls(named, own)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """The suites beside the files that were collected."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            report.result += [
                SuiteCollector.from_parent(collector, name=name, nodeid=name, path=suite_file(asked), plugin=self)
                for name, asked in self.named.items()
            ]
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Tell each suite which trials are going to be asked for."""
        for item in items:
            if isinstance(item, TrialItem):
                case, variant, _ = item.trial
                item.run.wanted.setdefault(case, set()).add(variant)

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        """How much of the dataset the suites are about: what is held out must not look as if it had passed."""
        runs = {item.run.suite.suite.name: item.run for item in items if isinstance(item, (TrialItem, CheckItem))}
        return [f"evals: {name}: {in_words(run.suite.scope)}" for name, run in runs.items()]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The verdict of each suite that was judged, whichever process judged it."""
        reports = [report for found in terminalreporter.stats.values() for report in found]
        told = [value for each in reports for name, value in getattr(each, "user_properties", ()) if name == TOLD]
        for text in dict.fromkeys(map(str, told)):
            terminalreporter.section("evals")
            terminalreporter.write_line(text)

    def wants(self, nodeid: str) -> bool:
        """Whether a test was named, alone or with all of its variant or suite; all are where none is."""
        return not self.ids or any(_within(nodeid, each) for each in self.ids)


def _within(nodeid: str, named: str) -> bool:
    return nodeid == named or nodeid.startswith((f"{named}{SEP}", f"{named}["))


class VariantCollector(pytest.Collector):
    """A variant, so that `-k` and the ids of its trials know it; the suite collects those, case by case."""

    def collect(self) -> Sequence[pytest.Item]:
        """Nothing: all is there already."""
        return ()


class SuiteCollector(pytest.Collector):
    """A suite. Its tests come case by case, all variants of one together, and its checks last."""

    def __init__(self, *, plugin: Suites, **node: Any) -> None:  # noqa: ANN401 - as pytest has them
        super().__init__(**node)
        self.plugin = plugin
        self.add_marker(pytest.mark.evals)

    def collect(self) -> list[pytest.Item]:
        """Every trial and every check that was not left out by naming others."""
        asked = self.plugin.named[self.name]
        run = SuiteRun(self._loaded(asked), asked)
        found = [*self._trials(run), *self._checks(run)]
        for named in self.plugin.ids:
            if named.split(SEP)[0] == self.name and not any(_within(item.nodeid, named) for item in found):
                raise self.CollectError(f"no test {named}; `pytest --evals {asked} --collect-only -q` lists them")
        return [item for item in found if self.plugin.wants(item.nodeid)]

    def _loaded(self, asked: str) -> LoadedSuite:
        try:
            return load_suite(asked, self._root)
        except CannotJudgeError as error:
            raise self.CollectError(f"cannot judge {asked}: {error}") from error
        except EvalsError as error:
            raise self.CollectError(str(error)) from error

    @property
    def _root(self) -> Path:
        return self.config.rootpath

    def _trials(self, run: SuiteRun) -> Iterator[TrialItem]:
        samples = run.suite.suite.samples
        variants = [info.variant.name for info in run.suite.variants]
        nodes = {
            name: VariantCollector.from_parent(self, name=name, nodeid=f"{self.nodeid}{SEP}{name}") for name in variants
        }
        for case in run.suite.cases:
            for sample in range(samples):
                name = f"{case.id}[{sample}]" if samples > 1 else case.id
                for variant, node in nodes.items():
                    nodeid = f"{node.nodeid}{SEP}{name}"
                    trial = (case.id, variant, sample)
                    yield TrialItem.from_parent(node, name=name, nodeid=nodeid, run=run, trial=trial)

    def _checks(self, run: SuiteRun) -> Iterator[CheckItem]:
        for check in CHECKS:
            nodeid = f"{self.nodeid}{SEP}{check.name}"
            yield CheckItem.from_parent(self, name=check.name, nodeid=nodeid, run=run, check=check)

"""A suite as pytest tests."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest
from filelock import FileLock

from evals.comparison.assemble_run import case_info
from evals.errors import CannotJudgeError, EvalsError
from evals.models.run import Reason, Run, Trial
from evals.pipeline.decide_run import may_have_broken
from evals.pipeline.load_suite import load_suite
from evals.pipeline.run_suite import finish, replay
from evals.report.junit_xml import broken, changed_lines, errors, off_tape, scores
from evals.report.view.headline_table import in_words
from evals.report.view.violations_table import reason_of
from evals.run_context import RunContext
from evals.runner.trials import TrialId, Trials, trial_id
from evals.scoring.registry import score_trials, scorer_infos
from evals.shared.display_text import visible
from evals.suites.suite_files import read_suite, suite_file

REPORTS: Final = "pytest"
"""Folder of the reports, below that of all others."""


@dataclass
class SuiteRun:
    """What is known of a suite so far. `asked` is its name as it was typed.

    `wanted` are the variants whose tests are selected, by case: those of a case are replayed together, so that its
    cassette and its code are read once. All of them are replayed at once where each replay would load the target anew.
    """

    suite: RunContext
    asked: str
    wanted: dict[str, set[str]] = field(default_factory=dict)
    _trials: dict[TrialId, Trial] = field(default_factory=dict)
    _whole: Run | None = None

    @property
    def folder(self) -> Path:
        """Where the report of the whole run is."""
        return self.suite.workspace.reports / REPORTS / self.suite.suite.name

    def trial(self, case: str, variant: str, sample: int) -> Trial:
        """The trial, scored; replayed now if it was not yet."""
        if (case, variant, sample) not in self._trials:
            cases = [*self.wanted] if self._loads_anew else [case]
            self._replay(cases, {variant, *(name for each in cases for name in self.wanted.get(each, ()))})
        return self._trials[case, variant, sample]

    def may_have_broken(self, case: str, variant: str) -> bool:
        """Whether the case may count as broken: where nothing of it is lower, the whole run need not be known."""
        names = {variant, self.suite.suite.reference} & {info.variant.name for info in self.suite.variants}
        trials = [self.trial(case, name, n) for name in sorted(names) for n in range(self.suite.suite.samples)]
        return may_have_broken(_only(self.suite, [case], names), trials, variant)

    def whole(self) -> Run:
        """The suite as `evals run` has it, with its report; made once, and kept for other processes."""
        if self._whole is None:
            everyone = {info.variant.name for info in self.suite.variants}
            self._replay([case.id for case in self.suite.cases], everyone)
            order = (
                (case.id, info.variant.name, sample)
                for case in self.suite.cases
                for info in self.suite.variants
                for sample in range(self.suite.suite.samples)
            )
            traces = tuple(self._trials[each].trace for each in order)
            with self._alone("verdict"):
                self._whole = finish(self.suite, Trials(traces, reused=0), self.folder)
        return self._whole

    def _replay(self, cases: Sequence[str], variants: set[str]) -> None:
        """Replay what is not known yet of the cases under these variants."""
        lacking = [case for case in cases if any((case, name, 0) not in self._trials for name in variants)]
        for together in [lacking] if self._loads_anew and lacking else [[case] for case in lacking]:
            new = {name for name in variants if any((case, name, 0) not in self._trials for case in together)}
            part = _only(self.suite, together, new)
            with self._alone(together[0]):
                traces = replay(part).traces
            self._trials |= {trial_id(trial.trace): trial for trial in score_trials(part.by_id, traces)}

    @property
    def _loads_anew(self) -> bool:
        pack, root = self.suite.workspace.pack, self.suite.workspace.root
        return any(pack.process_of(pack.prompt_of(info, root)) is not None for info in self.suite.variants)

    def _alone(self, what: str) -> FileLock:
        """Held while this process is at it; the next one finds what it left in the cache."""
        folder = self.suite.workspace.cache / REPORTS / self.suite.suite.name
        folder.mkdir(parents=True, exist_ok=True)
        return FileLock(folder / f"{what}.lock")


def _only(suite: RunContext, cases: Sequence[str], variants: set[str]) -> RunContext:
    return replace(
        suite,
        cases=[suite.by_id[case] for case in cases],
        variants=[info for info in suite.variants if info.variant.name in variants],
    )


TOLD: Final = "evals"
"""Name of the property in which the verdict travels to the process that prints the summary."""


class TrialItem(pytest.Item):
    """One case under one variant, or one sample of it. Its primary scores are properties of the test."""

    def __init__(self, *, run: SuiteRun, trial: TrialId, **node: Any) -> None:  # noqa: ANN401 - as pytest has them
        super().__init__(**node)
        self.run, self.trial = run, trial

    def setup(self) -> None:
        """Replay; an error where the trial has no result."""
        case, variant, sample = self.trial
        found = self.run.trial(case, variant, sample)
        if wrong := [*errors(found)]:
            _stop("\n".join(wrong))
        if where := off_tape(found):
            _stop(f"{where}; record it with `{self.run.suite.record_command}`")
        suite = self.run.suite
        self.user_properties += [*scores(found, scorer_infos(suite.workspace.pack, suite.suite.primary)).items()]

    def runtest(self) -> None:
        """Fail where the case is lower than it was, or than under the reference, and the run is not green."""
        case, variant, _ = self.trial
        if not self.run.may_have_broken(case, variant):
            return
        whole = self.run.whole()
        if not (said := [*broken(whole, variant, case), *changed_lines(whole, variant, case)]):
            return
        text = "\n".join([*said, *self._explained(whole)])
        if whole.verdict.status != "not worse":
            _stop(text)
        self.add_report_section("call", "evals: fell, and the verdict is green", visible(text))

    def _explained(self, whole: Run) -> Iterator[str]:
        """Why its own route fails, and where to see more."""
        case, variant, _ = self.trial
        if why := reason_of(self.run.trial(*self.trial), case_info(self.run.suite.by_id[case])):
            yield f"{case} under {variant} {why}"
        two = variant == whole.candidate != whole.reference
        sides = f"--diff {whole.reference} {variant}" if two else f"--variant {variant}"
        yield f"see it with `evals explain {case} {sides} --suite {self.run.asked}`"

    def reportinfo(self) -> tuple[Path, None, str]:
        """What heads its failure."""
        case, variant, sample = self.trial
        more = f", sample {sample}" if self.run.suite.suite.samples > 1 else ""
        return self.path, None, f"{case} under {variant}{more}"


@dataclass(frozen=True)
class Check:
    """A look at the whole: which reasons of a verdict are its own; None for all of them."""

    name: str
    kinds: tuple[str, ...] | None = None


CHECKS: Final = (
    Check("coverage", ("failed", "partial run", "coverage too low", "metric lost", "nothing to judge")),
    Check("baseline", ("no baseline", "not comparable", "different models")),
    Check("verdict"),
)


class CheckItem(pytest.Item):
    """What only the whole suite can say: it is replayed and judged as `evals run` does, whatever else is selected."""

    def __init__(self, *, run: SuiteRun, check: Check, **node: Any) -> None:  # noqa: ANN401 - as pytest has them
        super().__init__(**node)
        self.run, self.check = run, check

    def setup(self) -> None:
        """An error where the run cannot be judged, and for a reason that is this check's."""
        whole = self.run.whole()
        if self.check.kinds is None:
            self.user_properties.append((TOLD, _summary(whole, self.run.folder, self.run.suite.workspace.root)))
        mine = self._reasons(whole)
        if whole.verdict.status in ("cannot judge", "changed") and mine:
            _stop(_verdict(whole, mine))

    def runtest(self) -> None:
        """Fail where the run is worse."""
        whole = self.run.whole()
        if self.check.kinds is None and whole.verdict.status == "worse":
            _stop(_verdict(whole, whole.verdict.reasons))

    def reportinfo(self) -> tuple[Path, None, str]:
        """What heads its failure."""
        return self.path, None, f"{self.check.name} of {self.run.suite.suite.name}"

    def _reasons(self, whole: Run) -> Sequence[Reason]:
        kinds = self.check.kinds
        return [reason for reason in whole.verdict.reasons if kinds is None or reason.kind in kinds]


def _verdict(whole: Run, reasons: Sequence[Reason]) -> str:
    return "\n".join([whole.verdict.sentence, *(f"{reason.kind}: {reason.text}" for reason in reasons)])


def _summary(whole: Run, folder: Path, root: Path) -> str:
    verdict = whole.verdict
    scope = [in_words(whole.scope)] if whole.scope else []
    page = (folder / "index.html").relative_to(root)
    report = f"`evals run` exits with {verdict.exit_code} ({verdict.status}). Report: {page}"
    return "\n".join([f"{whole.suite}: {verdict.sentence}", *scope, report])


def _stop(text: str) -> None:
    """The words alone: a traceback would show this file."""
    pytest.fail(visible(text), pytrace=False)


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

    def pytest_terminal_summary(self, terminalreporter: "pytest.TerminalReporter") -> None:
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

    def _loaded(self, asked: str) -> RunContext:
        try:
            return load_suite(asked, self.config.rootpath)
        except CannotJudgeError as error:
            raise self.CollectError(f"cannot judge {asked}: {error}") from error
        except EvalsError as error:
            raise self.CollectError(str(error)) from error

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

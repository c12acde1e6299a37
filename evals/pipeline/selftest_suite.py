"""Self-test of a suite: planted faults and false alarms."""

import pickle
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evals.analysis.selftest_faults import FaultPlan, ScratchSuite, faults_of, spoilable
from evals.comparison import gate
from evals.comparison.baseline import make_baseline
from evals.comparison.comparison_pairs import compared
from evals.comparison.divergences import blessed_behaviour
from evals.comparison.gate_input import facts_of, rule_facts
from evals.comparison.metric_summaries import SEED, Material, case_means
from evals.comparison.paired_comparison import (
    ON_ROUTES,
    Against,
    Names,
    PairedRule,
    Values,
    change_test,
    compare_family,
    rule_test,
)
from evals.errors import EXIT_OK, EXIT_WORSE, CannotJudgeError, EvalsError
from evals.fork_server import origin
from evals.models.analysis_results import PlantedFault, RedRate, SelfTest
from evals.models.metrics import Scored
from evals.models.run import Coverage, Run, Trial, Verdict
from evals.models.suite import GatePolicy
from evals.pipeline.load_suite import needless
from evals.pipeline.run_suite import replay
from evals.run_context import RunContext
from evals.runner.trials import cassette_digests
from evals.runner.worker_pool import run_tasks
from evals.scoring.registry import deciding, safety_metrics, score_trials
from evals.statistics.intervals import rate_interval

Planted = Literal["routes", "hard constraints"]
ROUTE: Final = "route.pass"
_ANY: Final = "no scorer changes here"


class Repeats:
    """The scored trials of a suite with repeats, by case, variant and repeat."""

    def __init__(self, material: Material) -> None:
        """`material` holds the trials of all repeats; what it says of baselines and cassettes is not used."""
        wanted = {info.name for info in material.metrics if info.primary} | {*safety_metrics(material.pack)}
        self._by_repeat: dict[tuple[str, str, int], Trial] = {}
        for trial in material.trials:
            trace = trial.trace
            told = {name: outcome for name, outcome in trial.outcomes.items() if name in wanted}
            self._by_repeat[trace.case_id, trace.variant, trace.sample] = trial.model_copy(
                update={"trace": trace.model_copy(update={"sample": 0}), "outcomes": told}
            )
        self._cells = [(case.id, name) for case in material.cases for name in material.names]
        suite = material.suite.model_copy(update={"samples": 1, "as_blessed": None})
        now, self._before = ({case.id: which for case in material.cases} for which in ("now", "before"))
        self._material = replace(material, suite=suite, cassettes=now, scorers=_ANY, partial=())
        self.count = material.suite.samples

    @property
    def churn(self) -> float:
        """How often a case's route passes in one repeat and fails in another: the mean over cases, variants and pairs
        of repeats."""
        passed = {key: self._passed(trial) for key, trial in self._by_repeat.items()}
        pairs = [(one, other) for one in range(self.count) for other in range(one)]
        unlike = [passed[*cell, one] != passed[*cell, other] for cell in self._cells for one, other in pairs]
        return float(np.mean(unlike))

    def whole(self, before: int, after: int) -> Verdict:
        """The verdict on repeat `after` of every case, held against repeat `before` as its baseline."""
        return self._judge([(before, after)] * len(self._cells))

    def mixed(self, rng: np.random.Generator, losses: int = 0, planted: Planted = "routes") -> Verdict:
        """The verdict on a mixture of repeats, with losses planted in that many cases of the candidate."""
        drawn = rng.permuted(np.tile(np.arange(self.count), (len(self._cells), 1)), axis=1)
        return self._judge([(int(row[0]), int(row[1])) for row in drawn], losses, planted, rng)

    def rate(self, draws: int, rng: np.random.Generator, losses: int = 0, planted: Planted = "routes") -> RedRate:
        """How many of so many mixtures are red."""
        red = sum(self.mixed(rng, losses, planted).exit_code == EXIT_WORSE for _ in range(draws))
        low, high = rate_interval(red, draws) or (None, None)
        return RedRate(
            cases=len(self._material.cases),
            flips=losses,
            churn=self.churn,
            red=red,
            draws=draws,
            low=low,
            high=high,
            outcomes="recorded repeats",
            planted=planted,
        )

    def _judge(
        self,
        drawn: Sequence[tuple[int, int]],
        losses: int = 0,
        planted: Planted = "routes",
        rng: np.random.Generator | None = None,
    ) -> Verdict:
        before = [self._by_repeat[*cell, one] for cell, (one, _) in zip(self._cells, drawn, strict=True)]
        after = [self._by_repeat[*cell, other] for cell, (_, other) in zip(self._cells, drawn, strict=True)]
        if losses and rng is not None:
            after = self._spoilt(before, after, losses, planted, rng)
        own = self._material
        baseline = make_baseline(
            own.suite.name, own.cases, own.variants, before, _ANY, pack=own.pack, cassettes=self._before
        )
        now = make_baseline(own.suite.name, own.cases, own.variants, after, _ANY, pack=own.pack)
        material = replace(own, trials=after, baseline=baseline, wants_baseline=True)
        return gate.decide(facts_of(material, now, compared(material, material.metrics)))

    def _spoilt(
        self, before: Sequence[Trial], after: Sequence[Trial], losses: int, planted: Planted, rng: np.random.Generator
    ) -> list[Trial]:
        candidate = self._material.suite.candidate
        passing = [case for case, value in case_means(before, candidate, ROUTE).items() if value == 1]
        lost = set(rng.choice(passing, size=min(losses, len(passing)), replace=False).tolist())
        found = []
        for trial in after:
            if trial.trace.variant == candidate and trial.trace.case_id in lost:
                update: dict[str, object] = {"outcomes": {**trial.outcomes, ROUTE: Scored(value=0.0)}}
                if planted == "hard constraints":
                    update["hard_violations"] = (*trial.hard_violations, "planted")
                trial = trial.model_copy(update=update)  # noqa: PLW2901 - the trial with the loss in it
            found.append(trial)
        return found

    @staticmethod
    def _passed(trial: Trial) -> bool:
        outcome = trial.outcomes.get(ROUTE)
        return isinstance(outcome, Scored) and outcome.value == 1


ENDPOINTS: Final = ("route.pass", "result.right", "decision.score")
PASSING: Final = 0.6
"""The share of generated cases that pass before anything is turned round."""
AGAINST: Final[dict[Names, Against]] = {
    ("now", "was"): "reference",
    ("now", "now (baseline)"): "baseline",
    ("was", "was (baseline)"): "baseline",
}
SIDES: Final = ("now", "was", "now (baseline)", "was (baseline)")


def red_rate(cases: int, flips: int, churn: float, draws: int, policy: GatePolicy, rng: np.random.Generator) -> RedRate:
    """Draw and judge; flips are planted in the first endpoint. Without churn all draws are alike, and one is made."""
    made = draws if churn else 1
    red = sum(judged(cases, flips, churn, policy, rng) == EXIT_WORSE for _ in range(made))
    low, high = (churn and rate_interval(red, made)) or (None, None)
    return RedRate(cases=cases, flips=flips, churn=churn, red=red, draws=made, low=low, high=high)


def judged(cases: int, flips: int, churn: float, policy: GatePolicy, rng: np.random.Generator) -> int:
    """The gate's exit code on one draw; every case is its own cluster."""
    names = [f"case-{n}" for n in range(cases)]
    clusters = {name: name for name in names}
    passing = max(round(cases * PASSING), min(flips, cases))
    passed: dict[str, dict[str, NDArray[np.bool_]]] = {}
    for endpoint in ENDPOINTS:
        for side in SIDES:
            outcome = np.arange(cases) < passing
            if endpoint == ENDPOINTS[0] and side == "now":
                outcome[:flips] = False
            passed.setdefault(side, {})[endpoint] = outcome ^ (rng.random(cases) < churn)
    family = {
        (left, right): {
            endpoint: (_values(names, passed[left][endpoint]), _values(names, passed[right][endpoint]))
            for endpoint in ENDPOINTS
        }
        for left, right in AGAINST
    }
    rules = {
        (pair, ON_ROUTES): _hard(pair, names, passed[pair[0]][ENDPOINTS[0]], passed[pair[1]][ENDPOINTS[0]], clusters)
        for pair, against in AGAINST.items()
        if against == "baseline"
    }
    told = compare_family(family, clusters, AGAINST, policy, None, {key: rule.test for key, rule in rules.items()})
    full = Coverage(exact=cases, frontier=0, unrecorded=0, failed=0)
    facts = gate.Facts(
        candidate="now",
        reference="was",
        record_command="none",
        policy=policy,
        coverage={"now": full, "was": full},
        judged=told.comparisons,
        **rule_facts([rule_test(rule, *told.rules[key], clusters, policy) for key, rule in rules.items() if rule.lost]),
    )
    return gate.decide(facts).exit_code


def _hard(
    pair: Names,
    names: Sequence[str],
    now: NDArray[np.bool_],
    was: NDArray[np.bool_],
    clusters: dict[str, str],
) -> PairedRule:
    """Hard constraints of one variant against its baseline: every second case that fails violates one."""
    own = [names[place] for place in range(1, len(names), 2)]
    lost: dict[str, tuple[str, ...]] = {
        name: ("generated",) for name, before, after in zip(own, was[1::2], now[1::2], strict=True) if before > after
    }
    gained = {name for name, before, after in zip(own, was[1::2], now[1::2], strict=True) if after > before}
    return PairedRule(
        rule=ON_ROUTES,
        left=pair[0],
        right=pair[1],
        against="baseline",
        lost=lost,
        gained=tuple(sorted(gained)),
        certain=(),
        shown=bool(lost),
        test=change_test(names, lost, gained, clusters),
    )


def _values(names: Sequence[str], passed: NDArray[np.bool_]) -> Values:
    return {name: float(value) for name, value in zip(names, passed, strict=True)}


FLIPS: Final = (1, 2, 4, 8)
CHURN: Final = 0.05
MANY: Final = 64
"""Cases of the second, larger generated suite."""


@dataclass(frozen=True)
class SelfTestStep:
    """What is done with the bench that lies in a file. Everything in it can be sent to another process."""

    name: str
    work: Callable[[ScratchSuite], Any]
    ground: Path

    @property
    def process(self) -> None:
        """Any worker may do it."""

    @property
    def patience(self) -> float:
        """Seconds it may take: planting a fault in a thousand cases takes its time."""
        return 3600.0

    @property
    def overdue(self) -> str:
        """What is said of it when it took longer."""
        return f"it did not end within {self.patience:g} s"

    def parts(self) -> list["SelfTestStep"]:
        """Itself: it cannot be divided."""
        return [self]


def taken(step: SelfTestStep) -> tuple[SelfTestStep, Any]:
    """The step and what it gave; an error of ours in its place."""
    try:
        return step, step.work(_laid(step.ground))
    except EvalsError as error:
        return step, error


def lost(step: SelfTestStep, why: str) -> tuple[SelfTestStep, EvalsError]:
    """A step that no process came back from."""
    return step, CannotJudgeError(f"self-test, {step.name}: {why}")


def lay(bench: ScratchSuite) -> Path:
    """Write the bench to where every step finds it."""
    path = bench.scratch / "bench"
    path.write_bytes(pickle.dumps(bench))
    return path


@lru_cache(maxsize=1)
def _laid(path: Path) -> ScratchSuite:
    bench: ScratchSuite = pickle.loads(path.read_bytes())  # noqa: S301 - written a moment ago, by `lay`
    return bench


def twice(bench: ScratchSuite) -> tuple[tuple[str, ...], int]:
    """Which traces of the reference are not the same when everything is run once more, and of how many."""
    name = bench.suite.reference
    before = [trial.trace for trial in bench.trials if trial.trace.variant == name]
    reference = next(info for info in bench.variants if info.variant.name == name)
    with spoilable(bench) as apart:
        again = apart.replay(reference, fresh=True)
    unlike = [
        f"{now.case_id} {f'failed: {now.error}' if now.error else 'gave another trace'}"
        for was, now in zip(before, again, strict=True)
        if was.model_dump_json() != now.model_dump_json()
    ]
    return tuple(unlike), len(before)


def planted(fault: FaultPlan, bench: ScratchSuite) -> PlantedFault:
    """Plant the fault on a bench of its own, and see what the gate makes of it."""
    with spoilable(bench) as apart:
        run = fault.plant(apart)
    code = None if isinstance(run, str) else run.verdict.exit_code
    return PlantedFault(name=fault.name, what=fault.what, said=_in_words(run), exit_code=code)


def _in_words(run: Run | str) -> str:
    if isinstance(run, str):
        return run
    decisive = [reason.kind for reason in run.verdict.reasons if reason.kind != "note"]
    return f"{run.verdict.status} ({run.verdict.exit_code}): {', '.join(dict.fromkeys(decisive)) or 'nothing'}"


def rates(draws: int, bench: ScratchSuite) -> tuple[RedRate, ...]:
    """False alarms and power on generated outcomes, for as many cases as this suite has and for many."""
    drawn = [
        (cases, flips, churn)
        for cases in sorted({len(bench.cases), MANY})
        for churn in (0.0, CHURN)
        for flips in (0, *FLIPS)
    ]
    rng = np.random.default_rng(SEED)
    return tuple(red_rate(cases, flips, churn, draws, bench.suite.gate, rng) for cases, flips, churn in drawn)


def repeat_rates(draws: int, bench: ScratchSuite) -> tuple[RedRate, ...]:
    """The same through the whole gate on the recorded repeats; none where the suite has one answer per request. A
    planted loss takes a quarter of the draws: power is read to ten per cent, false alarms to one."""
    material = bench.material()
    if bench.suite.samples < 2 or not any(info.primary and info.name == ROUTE for info in material.metrics):
        return ()
    repeats, rng = Repeats(material), np.random.default_rng(SEED)
    power = [(losses, planted) for planted in get_args(Planted) for losses in FLIPS[1:]]
    return (
        repeats.rate(draws, rng),
        *(repeats.rate(max(20, draws // 4), rng, losses, planted) for losses, planted in power),
    )


AGAIN: Final = "the reference once more"
DRAWN: Final = "drawn comparisons"
REPEATS: Final = "recorded repeats"
Said = Callable[[str], None]


def step_count(chosen: RunContext) -> int:
    """How often a self-test of a suite calls `said`."""
    return 3 + len(faults_of(chosen.pack))


def self_test(chosen: RunContext, *, jobs: int, draws: int, said: Said) -> SelfTest:
    """Plant every fault, run the reference twice, and draw comparisons; `said` is told of each step that is done.

    Raises:
        CannotJudgeError: the suite is not green as it is, so that a red with a fault in it would prove nothing; or a
            step was lost.
    """
    plans = faults_of(chosen.pack)
    if jobs > 1:
        origin()  # it loads while what is known is judged
    found = {}
    with tempfile.TemporaryDirectory(prefix="evals-selftest-") as scratch:
        bench = _bench(chosen, jobs, Path(scratch))
        control = bench.run()
        if control.verdict.exit_code != EXIT_OK:
            raise CannotJudgeError(
                f"{chosen.suite.name} must be green before faults are planted: {control.verdict.sentence}"
            )
        with closing(_all(_steps(lay(bench), draws, plans), jobs)) as results:  # no process is left when the copies go
            for step, result in results:
                if isinstance(result, EvalsError):
                    raise result
                said(step.name)
                found[step.name] = result
    unlike, total = found[AGAIN]
    return SelfTest(
        suite=chosen.suite.name,
        candidate=chosen.suite.candidate,
        reference=chosen.suite.reference,
        alpha=chosen.suite.gate.alpha,
        faults=tuple(found[fault.name] for fault in plans),
        unlike=unlike,
        total=total,
        rates=(*found[REPEATS], *found[DRAWN]),
    )


def _bench(chosen: RunContext, jobs: int, scratch: Path) -> ScratchSuite:
    trials = score_trials(chosen.by_id, replay(chosen, jobs=jobs).traces, chosen.workspace.pack)
    variants = tuple(chosen.variants)
    return ScratchSuite(
        suite=chosen.suite,
        cases=tuple(chosen.cases),
        variants=variants,
        trials=trials,
        baseline=make_baseline(
            chosen.suite.name,
            chosen.cases,
            variants,
            trials,
            cassettes=cassette_digests(chosen.cases, chosen.workspace),
            pack=chosen.workspace.pack,
            behaviour=blessed_behaviour(
                chosen.suite, deciding(chosen.pack, chosen.suite.primary, chosen.cases), trials
            ),
        ),
        workspace=chosen.workspace,
        scratch=scratch,
        needless=needless(chosen),
    )


def _steps(ground: Path, draws: int, plans: Sequence[FaultPlan]) -> list[SelfTestStep]:
    """Those that take longest first: the others fit in between."""
    faults = [SelfTestStep(fault.name, partial(planted, fault), ground) for fault in plans]
    repeats = SelfTestStep(REPEATS, partial(repeat_rates, draws), ground)
    return [SelfTestStep(DRAWN, partial(rates, draws), ground), repeats, SelfTestStep(AGAIN, twice, ground), *faults]


def _all(steps: list[SelfTestStep], jobs: int) -> Generator[tuple[SelfTestStep, Any]]:
    yield from map(taken, steps) if jobs == 1 else run_tasks(steps, jobs, taken, lost)

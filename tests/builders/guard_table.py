"""Every situation guards have to tell apart, in words and as a state, and tables of what ought to happen in each.

A table is text, one row for each rule: `guard | conditions | where to`. Conditions are words of the situation,
`fact=a/b` or `fact!=a`; the first row that fits decides. Nothing of the guards' code is used to read one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from tests.builders.state import a_finding, a_rejection, a_report, a_state, an_agent_error, an_exchange
from triage.state import NODES, BugTriageState, Node, Worker

SEARCHES: tuple[Worker, ...] = ("codebase_search", "web_search")
NOBODY = "nobody"
Condition = tuple[str, bool, frozenset[str]]
"""A fact, whether it is one of the words or none of them, and the words."""


@dataclass(frozen=True)
class Situation:
    """One state in words.

    `time`: start, middle, limit of the budget. `asked`: questions answered. `verdict`: none, approved, binding
    (rejected, and nothing has landed since) or answered (rejected, and something has). `searched`: no, or yes: code and
    web. `twice`: an agent that was called twice, and `worked`: whether it brought anything. `sure`: the confidence.
    """

    time: str
    asked: str
    report: str
    verdict: str
    forced: str
    searched: str = "no"
    twice: str = NOBODY
    worked: str = "yes"
    sure: str = "low"

    @property
    def state(self) -> BugTriageState:
        """The state this is."""
        return _state(self)


@dataclass(frozen=True)
class Row:
    """One rule of a table. `to` may be `as chosen`: the choice stands, and nothing further is asked; or `pass`: only
    the rest of this table is skipped."""

    guard: str
    conditions: tuple[Condition, ...]
    to: str

    def among(self, choice: str) -> bool:
        """Whether the row speaks of this choice at all."""
        return all((choice in words) is wanted for fact, wanted, words in self.conditions if fact == "choice")

    def fits(self, situation: Situation) -> bool:
        """Whether its other conditions hold."""
        return all(
            (getattr(situation, fact) in words) is wanted for fact, wanted, words in self.conditions if fact != "choice"
        )


Table = tuple[Row, ...]
Answer = tuple[str, str | None]
"""Where the graph goes, and the guard whose veto sent it there (None: the choice stands)."""


def a_table(text: str) -> Table:
    """The rows of a table, in order."""
    return tuple(_row(line) for line in text.strip().splitlines())


def expected(tables: Sequence[Table], sure: tuple[str, ...] = ("low",)) -> Iterator[tuple[Situation, Node, Answer]]:
    """What tables, asked one after the other, say of every choice in every situation."""
    for choice in NODES:
        spoken = [[row for row in table if row.among(choice)] for table in tables]
        for situation in situations(sure):
            yield situation, choice, _answer(spoken, situation, choice)


def _answer(tables: Sequence[Sequence[Row]], situation: Situation, choice: str) -> Answer:
    for table in tables:
        row = next((row for row in table if row.fits(situation)), None)
        if row is not None and row.to != "pass":
            return (choice, None) if row.to in ("as chosen", choice) else (row.to, row.guard)
    return choice, None


@cache
def situations(sure: tuple[str, ...] = ("low",)) -> tuple[Situation, ...]:
    """All of them; at the start nobody has been called yet."""
    told = list(product(("0", "1", "2"), ("no", "yes"), ("none", "approved", "binding", "answered"), ("no", "yes")))
    start = [Situation("start", *one, sure=level) for one in told for level in sure]
    called = [(NOBODY, "yes"), *product(("investigator", *SEARCHES, "critic"), ("yes", "no"))]
    later = [
        Situation(time, *one, searched, twice, worked, level)
        for time, one, searched, (twice, worked), level in product(
            ("middle", "limit"), told, ("no", "yes"), called, sure
        )
    ]
    return (*start, *later)


@cache
def _state(told: Situation) -> BugTriageState:
    started = told.time != "start"
    called: list[Worker] = ["investigator"] * started
    called += list(SEARCHES) * (told.searched == "yes")
    called += ["critic"] * (started and told.verdict != "none")
    called += ["human_input"] * (started * int(told.asked))
    called += [told.twice] * (2 - called.count(told.twice)) if told.twice != NOBODY else []
    broken = told.twice if told.worked == "no" else None
    findings = [a_finding(name) for name in called if name not in (broken, "human_input")]
    answers = [an_exchange()] * int(told.asked)
    verdicts = {
        "none": None,
        "approved": a_rejection(verdict="APPROVED", evidence_seen=99),
        "binding": a_rejection(evidence_seen=len(findings) + len(answers)),
        "answered": a_rejection(evidence_seen=len(findings) + len(answers) - 1),
    }
    return a_state(
        iterations={"start": 0, "middle": 5, "limit": 10}[told.time],
        max_iterations=10,
        visits=called,
        findings=findings,
        human_exchanges=answers,
        agent_errors=[an_agent_error(broken)] * 2 if broken else [],
        report=a_report() if told.report == "yes" else None,
        critic_feedback=verdicts[told.verdict],
        forced_fallback=told.forced == "yes",
        supervisor_confidence={"low": 0.5, "fair": 0.75, "high": 0.9}[told.sure],
    )


def _row(line: str) -> Row:
    guard, conditions, to = (part.strip() for part in line.split("|"))
    return Row(guard, tuple(_condition(word) for word in conditions.split()), to)


def _condition(word: str) -> Condition:
    fact, _, words = word.partition("=")
    return fact.removesuffix("!"), not fact.endswith("!"), frozenset(words.split("/"))

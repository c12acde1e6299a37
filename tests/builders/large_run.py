"""A run as large as they get, with texts as dense as recorded ones: for what a report weighs and how it feels.

Every length below is near the mean of the recorded suite `prompts`: per case an issue of 1,900 characters, per trial
eleven decisions that are shown what was found so far, and a comment that repeats it; a rationale is mostly said more
than once. Rules are broken as often as the large suite's routes break theirs: two of three fail, most of them by one
rule. Words are drawn by Zipf's law: the distinct text of a case packs to 3.3 kB, as that of a recorded one does.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from random import Random
from typing import Final

from evals.comparison.divergences import diverge
from evals.models.case import RouteNode, RouteReading, RouteSpec
from evals.models.metrics import Outcome, Scored, Skipped
from evals.models.run import CaseInfo, PointInfo, Run, Trial
from evals.models.trace import Call, Decision, Finding, PointAnswer, Visit
from evals.report.recorded_calls import RecordedCall
from tests.builders.case import a_constraint, a_spec, an_alternative, case_constraints, policy_constraints
from tests.builders.run import PRIMARY, a_case_info, a_comparison, a_run, a_scorer_info, a_variant_info
from tests.builders.trace import a_report, a_trace

WORKERS: Final[tuple[RouteNode, ...]] = ("investigator", "codebase_search", "web_search", "critic")
ARCHETYPES: Final = ("local_bug", "race", "performance", "third_party", "symptom_only")
SCORES: Final = (*PRIMARY, *(f"secondary.score_{number}" for number in range(34)))
TASK: Final = "\n".join(
    (
        "## Your task",
        "Name the next step. Reply with JSON:",
        '- next_node: one of "investigator", "codebase_search", "web_search", "critic", "human_input", "writer", "end"',
        "- reasoning: which rule and which finding led you there, in 1-3 sentences",
        '- question: the question to the user, only if next_node is "human_input", otherwise null',
        "- confidence: how sure you are of the root cause, 0.0 to 1.0; 0.0 while there is no hypothesis",
    )
)


_OWN: Final = tuple(
    a_constraint("existence", [node], id=f"{word}:{node}", min=least, max=None if least else 0, hard=hard)
    for node in WORKERS
    for word, least, hard in (("must", 1, True), ("unneeded", None, False), ("twice", 2, True))
)
SPECS: Final = tuple(
    a_spec(an_alternative(*policy_constraints(), *case_constraints(), *_OWN[k : k + 3], max_steps=most))
    for k in range(10)
    for most in (11, 12)
)


class Prose:
    """Text of a given length from a vocabulary of 4,000 words, the k-th drawn in proportion to 1/k."""

    def __init__(self, random: Random) -> None:
        syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "er", "in", "ty")]
        self._words = ["".join(random.choices(syllables, k=random.choice((1, 2, 2, 3, 4)))) for _ in range(4000)]
        self._weights = list(accumulate(1 / rank for rank in range(1, 4001)))
        self._random = random

    def sentence(self, characters: int) -> str:
        """One line of about so many characters."""
        words = self._random.choices(self._words, cum_weights=self._weights, k=max(1, characters // 6))
        return f"{' '.join(words).capitalize()}."

    def text(self, characters: int, lines: int) -> str:
        """So many lines."""
        return "\n".join(self.sentence(characters // lines) for _ in range(lines))


def a_large_run(cases: int = 1000, variants: Sequence[str] = ("v1", "v2", "v3"), seed: int = 6) -> Run:
    """A run of so many cases under each variant; the same arguments give the same run."""
    random = Random(seed)  # noqa: S311 - a test that repeats, not a secret
    prose = Prose(random)
    infos = [_case(number, prose, random) for number in range(cases)]
    trials = [_trials(info, variants, prose, random) for info in infos]
    flipped = tuple(info.id for info in infos if random.random() < 0.1)
    return a_run(
        *chain.from_iterable(trials),
        cases=infos,
        variants=[a_variant_info(name, prose.text(4000, 60)) for name in variants],
        scorers=[a_scorer_info(name) for name in SCORES],
        comparisons=tuple(a_comparison(name, right=variants[0], broke=flipped, n=cases) for name in PRIMARY),
        divergences=tuple(
            found for first, *others in trials for other in others if (found := diverge(first.trace, other.trace))
        ),
    )


def _case(number: int, prose: Prose, random: Random) -> CaseInfo:
    route = (*random.sample(WORKERS, 3), "writer")
    return a_case_info(
        f"project-{number:04}-{prose.sentence(14)[:-1].lower().replace(' ', '-')}",
        title=prose.sentence(60),
        body=prose.text(1600, 22),
        slice=random.choice(ARCHETYPES),
        root_cause=prose.sentence(160),
        gold=[f"{prose.sentence(6)[:-1].lower()}/core.py"],
        exemplars=(route,),
        route_spec=random.choice(SPECS),
        points=tuple(PointInfo(id=f"point-{k}", accept={"critic": 1.0}, why=prose.sentence(90)) for k in range(4)),
    )


def _trials(case: CaseInfo, variants: Sequence[str], prose: Prose, random: Random) -> list[Trial]:
    """Variants ask the same workers, which answer alike, and go the same way for a while."""
    found = {node: [_finding(node, prose, random) for _ in range(2)] for node in (*WORKERS, "writer")}
    said = [prose.sentence(135) for _ in range(14)]
    walk = [(node, random.choice(found[node])) for node in ("investigator", *random.choices(WORKERS, k=9), "writer")]
    mostly, rarely = (_reading(case.route_spec, random) for _ in range(2)) if case.route_spec else ()
    trials = []
    for variant in variants:
        same = random.randint(2, 11)
        others = [(node, random.choice(found[node])) for node in random.choices(WORKERS, k=10 - same)]
        trials.append(
            _trial(
                case, variant, [*walk[:same], *others, *walk[max(same, 10) :]], said, (*[mostly] * 4, rarely), random
            )
        )
    return trials


def _finding(node: RouteNode, prose: Prose, random: Random) -> Finding:
    details = prose.sentence(random.choice((12, 12, 100)))
    return Finding(agent_name=node, summary=prose.sentence(146), confidence=0.6, details=details)


def _trial(
    case: CaseInfo,
    variant: str,
    walked: Sequence[tuple[RouteNode, Finding]],
    said: Sequence[str],
    readings: Sequence[RouteReading],
    random: Random,
) -> Trial:
    told = [_told(number, node, found) for number, (node, found) in enumerate(walked, 1)]
    decisions = [_decision(number, node, told, random.choice(said)) for number, (node, _) in enumerate(walked)]
    evidence = tuple(found.details for _, found in walked[:2])
    trace = a_trace(
        case_id=case.id,
        variant=variant,
        report=a_report(root_cause=walked[0][1].summary, evidence=evidence),
        comment="## Findings\n\n" + "\n\n".join(f"### {text}" for text in told),
    )
    walk = {
        "visits": tuple(Visit(node=node, superstep=k, findings=(found,)) for k, (node, found) in enumerate(walked)),
        "decisions": tuple(decisions),
        "calls": tuple(_calls(walked, decisions)),
        "points": tuple(_answer(point.id, random.choice(said)) for point in case.points),
    }
    left = random.choice((None, None, 2, 5))
    reading = random.choice(readings)
    outcomes = _outcomes(random, passed=not reading.breaks)
    return Trial(trace=trace.model_copy(update=walk), outcomes=outcomes, first_divergence=left, reading=reading)


def _calls(walked: Sequence[tuple[RouteNode, Finding]], decisions: Sequence[Decision]) -> Iterator[Call]:
    """The supervisor is asked, then the worker it chose; equal questions have equal keys."""
    for decision, (node, found) in zip(decisions, walked, strict=True):
        for agent, said in (("supervisor", decision.model_dump_json()), (node, found.model_dump_json())):
            key = hashlib.sha256(f"{agent} {said}".encode()).hexdigest()
            yield Call(agent=agent, key=key, model="claude", prompt_tokens=900, completion_tokens=90)


def a_recording(run: Run) -> dict[tuple[str, str, int], RecordedCall]:
    """What every call of a large run was asked and answered: a decision, or a finding, as JSON of several lines."""
    prompts = {agent: f"You are the {agent}.\n{TASK}" for agent in ("supervisor", *WORKERS, "writer")}
    found = {}
    for trial in run.trials:
        calls = iter(trial.trace.calls)
        for decision, visit in zip(trial.trace.decisions, trial.trace.visits, strict=True):
            told = decision.model_dump(include={"chosen", "reasoning", "question", "confidence"})
            for said in (told, visit.findings[0].model_dump()):
                call = next(calls)
                reply = json.dumps(said, indent=1)
                found[trial.trace.case_id, call.key, 0] = RecordedCall(prompts[call.agent], decision.context, reply)
    return found


def _reading(spec: RouteSpec, random: Random) -> RouteReading:
    """Nought to two rules broken, the first alone deciding half the time; the critic's rule is the usual one."""
    ids = [constraint.id for constraint in spec.alternatives[0].constraints]
    usual = random.choices(ids, weights=[8 if name == "P2b" else 1 for name in ids], k=random.choice((0, 1, 1, 2)))
    breaks = tuple(dict.fromkeys(usual))
    return RouteReading(
        alternative=0,
        shares=tuple(0.0 if name in breaks else "vacuous" if name == "P2" else 1.0 for name in ids),
        breaks=breaks,
        decides=breaks[:1] if random.random() < 0.5 else (),
        read={"confidence": round(random.uniform(0.5, 0.97), 2)},
    )


def _told(number: int, node: RouteNode, found: Finding) -> str:
    return (
        f"[{number}] {node} (confidence: 60%)\nSummary: {found.summary}\nDetails: {found.details}\nRelevant files: none"
    )


def _decision(number: int, node: RouteNode, told: Sequence[str], reasoning: str) -> Decision:
    state = f"## Current state\nIteration: {number} / 10\nQuestions asked so far: 0 / 2\n\n## Findings so far"
    context = "\n\n".join((state, *(told[:number] or ("No findings yet.",)), "## Human exchanges so far\nNone.", TASK))
    return Decision(
        index=number,
        iteration=number,
        context=context,
        chosen=node,
        routed=node,
        reasoning=reasoning,
        confidence=0.6,
    )


def _answer(point: str, reasoning: str) -> PointAnswer:
    return PointAnswer(point=point, chosen="critic", routed="critic", confidence=0.75, reasoning=reasoning)


def _outcomes(random: Random, *, passed: bool) -> dict[str, Outcome]:
    """Passed or failed on the primary ones; of the others some are skipped, some are fractions. Most root causes are
    found: of a strong model they are, and so many labels are suspect."""
    primary: dict[str, Outcome] = {
        name: Scored(value=float(passed if name == "route.pass" else random.random() < 0.9)) for name in PRIMARY
    }
    others = {
        name: Skipped(reason="no question is required") if number % 3 else Scored(value=random.randint(0, 20) / 20)
        for number, name in enumerate(SCORES[len(PRIMARY) :])
    }
    return primary | others | {"route.fitness": Scored(value=random.randint(16, 26) / 26)}

"""Rubrics of an LLM judge, the questions it is asked by them, and its answers read."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from pydantic import BaseModel

from evals.application_pack import ModelJudge
from evals.cassettes.calls_and_misses import Ledger, nearest
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_files import FOLDER, Readings, load
from evals.cassettes.player import Tape, playing
from evals.errors import ConfigurationError
from evals.models.case import Case
from evals.models.judge import Grades
from evals.models.suite import Models
from evals.models.trace import Miss, Trace
from evals.workspace import Workspace

MARK: Final = "<!-- human -->"
Kind = Literal["rubric", "pair"]
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")
_MARK: Final = 12  # characters of a digest
Placeholders = Mapping[Kind, frozenset[str]]
"""What the human half of each prompt has to name in braces, and nothing else."""


@dataclass(frozen=True)
class JudgePrompt:
    """One prompt: its system half, and the human half with its placeholders. `lines` are those of the file as they
    stand in a request; none: as they are."""

    path: Path
    system: str
    human: str
    lines: tuple[str, ...] = ()

    def filled(self, values: Mapping[str, str]) -> str:
        """The human half with the values in their places; braces inside a value stay what they are."""
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self.human)


@dataclass(frozen=True)
class Prompts:
    """The prompts of a version, whose lines a changed request leads back to: the rubric, then that of pairs, if there
    is one."""

    version: str
    files: tuple[JudgePrompt, ...]

    @property
    def rubric(self) -> JudgePrompt:
        """Asks for grades."""
        return self.files[0]

    @property
    def pair(self) -> JudgePrompt:
        """Asks which of two is better."""
        return self.files[1]


def part(name: str, text: str) -> str:
    """A text between markers: `=== name digest ===` and the same with `end of`, so that the text cannot end them."""
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
    return f"=== {name} {mark} ===\n{text}\n=== end of {name} {mark} ==="


def load_prompts(version: str, folder: Path, placeholders: Placeholders) -> Prompts:
    """The prompts of a version.

    Raises:
        ConfigurationError: there is no such version, or a file that is no prompt.
    """
    known = versions(folder)
    if version not in known:
        raise ConfigurationError(f"judge: {version}: no such version; there is {', '.join(known)}")
    kinds: tuple[Kind, ...] = ("rubric", "pair")
    return Prompts(version, tuple(_load(folder / version, kind, placeholders[kind]) for kind in kinds))


def versions(folder: Path) -> tuple[str, ...]:
    """The versions there are."""
    return tuple(sorted(path.name for path in folder.iterdir() if path.is_dir()))


def _load(folder: Path, kind: Kind, placeholders: frozenset[str]) -> JudgePrompt:
    path = folder / f"{kind}.md"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({error}); a version has rubric.md and pair.md") from error
    system, *rest = re.split(rf"^{re.escape(MARK)}\s*$", text, flags=re.MULTILINE)
    if len(rest) != 1 or not system.strip() or not rest[0].strip():
        raise ConfigurationError(f"{path}: write exactly one line {MARK} with text above and below it")
    if set(_PLACEHOLDER.findall(rest[0])) != placeholders:
        named = ", ".join(f"{{{name}}}" for name in sorted(placeholders))
        raise ConfigurationError(f"{path}: below {MARK} name each of {named}, and nothing else in braces")
    return JudgePrompt(path, system.strip(), rest[0].strip())


@dataclass(frozen=True)
class JudgeQuestion:
    """What is asked about a case. `name` says about what, for people; `sample` of `samples` which answer is wanted."""

    case_id: str
    name: str
    prompt: JudgePrompt
    human: str
    schema: type[BaseModel]
    sample: int = 0
    samples: int = 1

    @property
    def place(self) -> str:
        """Where it stands among others that are handed out: by chance, but always the same. Whoever answers must not
        find a report beside its broken twin, or a question beside itself."""
        return hashlib.sha256(f"{self.sample} {self.human}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True)
class JudgeReply:
    """What came of a question: an answer, a miss, or an error in words; exactly one of the three."""

    question: JudgeQuestion
    answer: BaseModel | None = None
    miss: Miss | None = None
    error: str | None = None
    served: tuple[Interaction, ...] = ()


async def put(question: JudgeQuestion, bench: ModelJudge, tape: Tape) -> JudgeReply:
    """Ask one question over a tape of its own."""
    answer, error = None, None
    with playing(tape):
        try:
            answer = await bench.ask(question.prompt.system, question.human, question.schema)
        except Exception as failed:  # noqa: BLE001 - an answer that cannot be read is a value; a miss is in the ledger
            error = f"{type(failed).__name__}: {failed}".splitlines()[0]
    if tape.ledger.misses:
        return JudgeReply(question, miss=_miss(tape.ledger, tape.cassette))
    return JudgeReply(question, answer, error=error, served=tuple(tape.ledger.served))


def tape_for(question: JudgeQuestion, cassette: Cassette) -> Tape:
    """The cassette as this question hears it."""
    return Tape(cassette, sample=question.sample, samples=question.samples)


def replayed(questions: Sequence[JudgeQuestion], workspace: Workspace, models: Models) -> tuple[JudgeReply, ...]:
    """All questions answered from the tape, in order; each case's cassette is read once.

    Raises:
        CassetteError: a cassette cannot be trusted.
    """
    with workspace.pack.runner() as loop:
        return loop.run(_replayed(questions, workspace, models))


async def _replayed(questions: Sequence[JudgeQuestion], workspace: Workspace, models: Models) -> tuple[JudgeReply, ...]:
    clients = workspace.pack.replay_clients()
    bench, readings = workspace.pack.judge(clients, models), Readings(workspace.cache / FOLDER)
    cassettes: dict[str, Cassette] = {}
    try:
        found = []
        for question in questions:
            case = question.case_id
            if case not in cassettes:
                cassettes[case] = load(workspace.judge_cassette(case), readings)
            found.append(await put(question, bench, tape_for(question, cassettes[case])))
        return tuple(found)
    finally:
        await clients.close()


def missing(heard: Iterable[JudgeReply]) -> tuple[JudgeReply, ...]:
    """Those nobody recorded an answer to."""
    return tuple(one for one in heard if one.miss is not None)


def _miss(ledger: Ledger, cassette: Cassette) -> Miss:
    missed = ledger.misses[0]
    return Miss(
        key=missed.key,
        agent=missed.agent,
        method=missed.method,
        path=missed.path,
        model=missed.model,
        decision=0,
        characters=len(missed.body),
        nearest=nearest(missed, cassette),
    )


class Shown(Protocol):
    """What a judge is shown of a trial. `written` is what the trial wrote; equal ones are not compared."""

    @property
    def written(self) -> object:
        """What the trial wrote."""


@dataclass(frozen=True)
class GroundTruth:
    """A metric that knows the truth, and the question about the same. `agrees` are the grades that go with a metric of
    1 (True) and of 0 (False)."""

    metric: str
    question: str
    agrees: Mapping[bool, tuple[str, ...]]


@dataclass(frozen=True)
class Plant:
    """A changed report of a case. `kind` is the defect, rewording or attack; `target` the question whose grade has to
    fall, None where none may. Of an attack, `base` names the broken report that it stands in, and the grade of `target`
    must not rise."""

    sort: Literal["broken", "harmless", "attack"]
    kind: str
    case_id: str
    dossier: Any
    target: str | None = None
    base: str = ""

    @property
    def name(self) -> str:
        """What it is called, once in a check."""
        return f"{self.case_id}: {self.kind}"


@dataclass(frozen=True)
class PlantedKind:
    """A kind of defect, with the question whose grade has to fall, or of harmless change: whether it makes the text
    longer (1), shorter (-1) or neither (0)."""

    name: str
    what: str
    target: str = ""
    length: Literal[-1, 0, 1] = 0


@dataclass(frozen=True)
class JudgeCheckSet:
    """The reports of a check, each with its question: `originals` by case, with the case's cluster; `again` those that
    are asked twice. `attacks` are (place, text), in the order of the attacks among the plants."""

    originals: Mapping[str, tuple[str, JudgeQuestion]]
    again: Mapping[str, JudgeQuestion]
    plants: tuple[tuple[Plant, JudgeQuestion], ...]
    defects: Sequence[PlantedKind] = ()
    rewordings: Sequence[PlantedKind] = ()
    attacks: Sequence[tuple[str, str]] = ()

    @property
    def questions(self) -> tuple[JudgeQuestion, ...]:
        """All of them."""
        first = (question for _, question in self.originals.values())
        return (*first, *self.again.values(), *(question for _, question in self.plants))


class Rubric(Protocol):
    """What a pack asks its judge, in the version that a suite names."""

    @property
    def scales(self) -> Mapping[str, tuple[str, ...]]:
        """Question -> its grades, worst first; in the order of the report."""

    @property
    def ground_truth(self) -> GroundTruth | None:
        """The metric that the judge's grades are held against, if one knows the truth."""

    @property
    def prompts(self) -> Prompts:
        """The prompts of the version."""

    def dossier(self, case: Case, trace: Trace) -> Shown | None:
        """What the judge is shown of an exact trial; None where there is nothing to grade."""

    def length(self, shown: Any) -> int:  # noqa: ANN401 - what `dossier` of the same rubric gives
        """Characters of what the trial wrote, as the judge is shown it."""

    def question(self, case_id: str, name: str, shown: Any) -> JudgeQuestion:  # noqa: ANN401 - as above
        """All questions of the rubric about one trial, in one request."""

    def pair(self, case_id: str, name: str, first: Any, second: Any) -> JudgeQuestion | None:  # noqa: ANN401 - as above
        """Which of two trials of a case wrote the better text; answered by a `PairAnswer`. None: it is not asked."""

    def grades(self, answer: BaseModel | None) -> Grades:
        """The grades of an answer; empty where there is none."""

    def check_set(self, cases: Mapping[str, Case], traces: Sequence[Trace]) -> JudgeCheckSet:
        """What is planted in the good ones of these trials of one variant. Raises CannotJudgeError: there are none."""

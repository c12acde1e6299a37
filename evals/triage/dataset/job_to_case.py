"""A case made of a live job."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from evals.models.live_job import JobQuestion, LiveJob
from evals.triage.case_file import UNLABELLED, Archetype
from evals.triage.dataset.case_code import ABOUT, Codebase
from evals.triage.dataset.checks.label_checks import CATEGORY_OF
from evals.triage.dataset.checks.text_checks import MARK, SCHEMA_LINE
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.new_case import ASKING_CATEGORY, FORBIDDEN, kit_of

OPEN: Final = ("archetype", "severity", "category", "root_cause", "gold", "functions", "question")
"""Labels that stand for nothing until a person has looked."""
KEYWORDS: Final = 8
"""Words of a question, the longest first, that are proposed to know it by."""


def write_case(layout: Layout, case_id: str, job: LiveJob, archetype: Archetype, codebase: str | None) -> list[Path]:
    """Write the case, and its code as a codebase unless one of that name is there; returns the files of the case and
    the description of the code."""
    name = codebase or codebase_name(job)
    written = [] if layout.codebase(name).is_dir() else [_write_code(layout.codebase(name), job)]
    for path, text in (
        (layout.labels(case_id), "\n".join(_labels(case_id, name, job, archetype)) + "\n"),
        (layout.issue(case_id), f"# {job.title}\n\n{job.body}\n"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def codebase_name(job: LiveJob) -> str:
    """What the code is called in the dataset: jobs on the same code share it."""
    content = hashlib.sha256(repr(sorted(job.code.items())).encode("utf-8", "surrogatepass")).hexdigest()
    plain = re.sub(r"[^\w.-]+", "-", job.repository)
    return f"{plain}-{content[:12]}"


def _write_code(folder: Path, job: LiveJob) -> Path:
    for name, text in job.code.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    description = f"What the live job {job.name} could read of its checkout."
    about = Codebase(repository=job.repository, description=description, revision=job.revision)
    (folder / ABOUT).write_text(yaml.safe_dump(about.model_dump(), sort_keys=False), encoding="utf-8")
    return folder / ABOUT


def _labels(case_id: str, codebase: str, job: LiveJob, archetype: Archetype) -> Iterator[str]:
    kit = kit_of(archetype)
    category = CATEGORY_OF.get(archetype) or ASKING_CATEGORY.get(archetype, "code")
    yield from (
        SCHEMA_LINE,
        f"id: {case_id}",
        f"codebase: {codebase}",
        f"origin: {_flow({'source': 'job', 'name': job.name, 'url': job.url})}",
        f"archetype: {archetype}  # {MARK}: what kind of case it is",
        f"split: tune  # {MARK}: tune, gate or holdout",
        f"tags: [{', '.join(UNLABELLED + label for label in OPEN)}]  # {MARK}: take out what you have labelled",
        f"severity: MEDIUM  # {MARK}: by impact",
        f"category: {category}  # {MARK}: what the truth makes it",
        f'root_cause: "{MARK}: one sentence; what the report says is a guess until somebody has seen it"',
        f"gold: {{}}  # {MARK}: files and functions (path::name) at fault; empty where no code is to blame",
    )
    yield from _question(job.asked)
    yield from kit.lines()
    if job.route:
        yield f"      - [{', '.join(job.route)}]  # {MARK}: how the job went; keep it if that was a good way"
    yield from _candidates(job.states)


def _question(asked: Sequence[JobQuestion]) -> Iterator[str]:
    """What the person said is what the simulated user says, to whoever asks in the same words."""
    if not asked:
        yield f"{FORBIDDEN}  # {MARK}: should it ask?"
        return
    yield "question:"
    yield f"  policy: allowed  # {MARK}: required, allowed or forbidden"
    yield "  answers:"
    for n, one in enumerate(asked, 1):
        yield f"    - topic: answer-{n}  # {MARK}: what only the user knows"
        yield f"      keywords: {_flow(_keywords(one.question))}  # {MARK}: what asks for it"
        yield f"      answer: {_flow(one.answer)}"
    yield "  dont_know: I don't know, sorry."


def _keywords(question: str) -> list[str]:
    """The longest words of a question; of one without any, a word that most questions have."""
    words = {word.casefold() for word in re.findall(r"\w+", question)}
    return sorted(words, key=lambda word: (-len(word), word))[:KEYWORDS] or ["what"]


def _candidates(states: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Behind comment signs: a state without a label is none, and what the supervisor chose in it must not make one."""
    if not states:
        return
    points = [{"id": f"decision-{n}", "why": "", "accept": {}, "state": state} for n, state in enumerate(states)]
    text = yaml.safe_dump({"decision_points": points}, sort_keys=False, allow_unicode=True, width=120)
    yield f"# {MARK}: states to choose decision points from; uncomment those with a clear answer, drop the rest"
    yield from (f"# {line}" for line in text.splitlines())


def _flow(value: Any) -> str:  # noqa: ANN401 - plain data
    """The value on one line."""
    return yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6).removesuffix("...\n").strip()

"""A fixed bug of one's own history as a case: the issue as it was written, the code before the fix, gold off the fix.

Like any new case it loads as it stands, and lint refuses it until a person has decided what the fix does not say.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import yaml

from evals.dataset.checks.files import MARK, SCHEMA_LINE
from evals.dataset.checks.labels import CATEGORY_OF
from evals.dataset.fix import FixedBug
from evals.dataset.kits import kit_of
from evals.dataset.layout import Layout
from evals.dataset.scaffold import ASKING_CATEGORY, FORBIDDEN
from evals.errors import ConfigurationError
from evals.models.case import UNLABELLED, Archetype

OPEN: Final = ("archetype", "severity", "root_cause", "question")
"""Labels that stand for nothing until a person has looked; gold is read off the fix."""


def refuse_archetype(archetype: Archetype) -> None:
    """Raises ConfigurationError for one in which no code is to blame: a fix says the contrary."""
    category = CATEGORY_OF.get(archetype) or ASKING_CATEGORY.get(archetype, "code")
    if category != "code":
        raise ConfigurationError(f"--archetype {archetype}: blames no code, but a fix shows where code was to blame")


def write_case(
    layout: Layout, case_id: str, bug: FixedBug, archetype: Archetype, issue: str, repro: Path | None
) -> list[Path]:
    """Write the case's files; returns them."""
    labels = layout.labels(case_id)
    labels.parent.mkdir(parents=True)
    labels.write_text("\n".join(_labels(case_id, bug, archetype)) + "\n", encoding="utf-8")
    layout.issue(case_id).write_text(issue, encoding="utf-8")
    if repro is None:
        return [labels, layout.issue(case_id)]
    shutil.copyfile(repro, layout.repro(case_id))
    return [labels, layout.issue(case_id), layout.repro(case_id)]


def _labels(case_id: str, bug: FixedBug, archetype: Archetype) -> Iterator[str]:
    gold = {"gold": bug.gold.model_dump(mode="json", exclude_defaults=True)}
    yield from (
        SCHEMA_LINE,
        f"id: {case_id}",
        f"repository: {bug.repository}",
        f"base_commit: {bug.base}",
        f"origin: {{source: git, name: {bug.fix}}}",
        f"archetype: {archetype}  # {MARK}: what kind of case it is",
        f"split: tune  # {MARK}: tune, gate or holdout",
        f"tags: [{', '.join(UNLABELLED + label for label in OPEN)}]  # {MARK}: take out what you have labelled",
        f"severity: MEDIUM  # {MARK}: by impact",
        "category: code",
        f'root_cause: "{MARK}: one sentence"',
        f"# {MARK}: read off the fix; take out what it changed by the way",
        *yaml.safe_dump(gold, sort_keys=False, allow_unicode=True, width=120).splitlines(),
        f"{FORBIDDEN}  # {MARK}: should it ask?",
    )
    yield from kit_of(archetype).lines()

"""A new case as files to fill in: it loads as it stands, and lint refuses it until every mark is gone."""

import re
from pathlib import Path
from typing import Final, get_args

from evals.dataset.checks.files import MARK, SCHEMA_LINE
from evals.dataset.checks.labels import CATEGORY_OF
from evals.dataset.kits import kit_of
from evals.dataset.layout import Layout
from evals.errors import ConfigurationError
from evals.models.case import Archetype, Category

ARCHETYPES: Final[tuple[Archetype, ...]] = get_args(Archetype)
ASKING_CATEGORY: Final[dict[Archetype, Category]] = {
    "environment_ambiguity": "environment",
    "insufficient_information": "insufficient",
}
SEVERITY: Final[dict[Category, str]] = {"feature": "LOW", "not_a_bug": "LOW"}
ISSUE: Final = f"""{MARK}: the title, in the reporter's words; it does not name the cause

{MARK}: the body as on GitHub, 500 to 2,500 characters; what the reporter saw, tried, and wrongly suspects
"""
REPRO: Final = f'''"""{MARK}: what must hold, in one sentence."""

assert True, "{MARK}: fail with the patch, pass without; import the codebase and the standard library only"
'''
POINT: Final = f"""decision_points:
  - id: after-the-investigator
    why: "{MARK}: name the rule that decides, or say that it is judgement"
    accept: {{codebase_search: 1.0}}
    state:
      visits: [investigator]
      iterations: 1
      supervisor_confidence: 0.5
      findings:
        - agent_name: investigator
          summary: "{MARK}: what was understood"
          confidence: 0.5
          details: "{MARK}: what it rests on"
          relevant_files: []
""".splitlines()
FORBIDDEN: Final = "question: {policy: forbidden, dont_know: I don't know more than what I wrote.}"
ANSWERS: Final = f"""question:
  policy: required
  answers:
    - topic: "{MARK}: what only the user knows"
      keywords: [one, two, three, four, five]  # {MARK}: the words a question about it would use
      answer: "{MARK}: what the user says"
  dont_know: I don't know, sorry.""".splitlines()


def scaffold(root: Path, case_id: str, codebase: str, archetype: str) -> list[Path]:
    """Write the files of a new case. Returns them, the labels first.

    Raises:
        ConfigurationError: the id is no id or is taken, or there is no such codebase or archetype; nothing is written.
    """
    layout = Layout(root)
    known = known_archetype(archetype)
    refuse_id(layout, case_id)
    _refuse(layout, codebase)
    category = CATEGORY_OF.get(known) or ASKING_CATEGORY.get(known, "code")
    files = {
        layout.labels(case_id): "\n".join(_labels(case_id, codebase, known, category)) + "\n",
        layout.issue(case_id): ISSUE,
    }
    if category == "code":
        files |= {layout.patch(case_id): f"{MARK}: output of `git diff --relative` in the codebase\n"}
        files |= {layout.repro(case_id): REPRO}
    layout.labels(case_id).parent.mkdir(parents=True)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return list(files)


def known_archetype(archetype: str) -> Archetype:
    """The archetype of that name. Raises ConfigurationError."""
    for known in ARCHETYPES:
        if known == archetype:
            return known
    raise ConfigurationError(f"--archetype {archetype}: there is no such archetype; there are {', '.join(ARCHETYPES)}")


def refuse_id(layout: Layout, case_id: str) -> None:
    """Raises ConfigurationError for what is no id, or another case's."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", case_id):
        raise ConfigurationError(f"{case_id}: an id is lower-case letters, digits and hyphens")
    if layout.labels(case_id).parent.exists():
        raise ConfigurationError(f"{layout.labels(case_id).parent}: is there already; choose another id")


def _refuse(layout: Layout, codebase: str) -> None:
    if not layout.codebase(codebase).is_dir():
        there = sorted(path.name for path in layout.codebases.glob("[!.]*") if path.is_dir())
        raise ConfigurationError(f"--codebase {codebase}: there is no such codebase; there are {', '.join(there)}")


def _labels(case_id: str, codebase: str, archetype: Archetype, category: Category) -> list[str]:
    kit = kit_of(archetype)
    return [
        SCHEMA_LINE,
        f"id: {case_id}",
        f"codebase: {codebase}",
        f"archetype: {archetype}",
        f"split: tune  # {MARK}: tune, gate or holdout; twins share one",
        "tags: []",
        f"severity: {SEVERITY.get(category, 'MEDIUM')}  # {MARK}: by impact",
        f"category: {category}  # {MARK}: what the truth makes it",
        f'root_cause: "{MARK}: one sentence"',
        *([f"gold: {{}}  # {MARK}: paste what `evals dataset gold {case_id}` prints"] if category == "code" else []),
        *(ANSWERS if kit.may_ask else [FORBIDDEN]),
        *kit.lines(),
        *POINT,
        *([f"duplicate_of: {case_id}  # {MARK}: the original"] if category == "duplicate" else []),
        *([f"web: []  # {MARK}: the page that answers and three that only look like it"] if kit.searches_web else []),
    ]

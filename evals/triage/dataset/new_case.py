"""Templates for a new case and the suite of a live job."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

import yaml

from evals.errors import ConfigurationError
from evals.models.live_job import LiveJob
from evals.triage.case_file import Archetype, Category
from evals.triage.dataset.checks.label_checks import CATEGORY_OF
from evals.triage.dataset.checks.text_checks import MARK, SCHEMA_LINE
from evals.triage.dataset.dataset_layout import Layout

KitName = Literal["code", "web", "web_and_code", "ask", "critic_always", "no_search"]


@dataclass(frozen=True)
class Kit:
    """One alternative: constraints as flow mappings, steps, and exemplars as arrows."""

    constraints: tuple[str, ...]
    target: int
    max: int
    exemplars: tuple[str, ...]
    may_ask: bool = False
    overrides: tuple[str, ...] = ()

    @property
    def searches_web(self) -> bool:
        """Whether the web has to be searched."""
        return any("must:web_search" in constraint for constraint in self.constraints)

    def lines(self) -> list[str]:
        """The `route:` block."""
        return [
            "route:",
            "  - constraints:",
            *(f"      - {constraint}" for constraint in self.constraints),
            f"    target: {self.target}",
            f"    max: {self.max}",
            *([] if self.may_ask else ["    node_max: {human_input: 0}"]),
            *([f"    overrides: [{', '.join(self.overrides)}]"] if self.overrides else []),
            "    exemplars:",
            *(f"      - [{exemplar}]" for exemplar in self.exemplars),
        ]


END: Final = "{id: end, type: end, a: [writer], w: 2, hard: true}"
NEVER_ASK: Final = '{id: "never:human_input", type: existence, a: [human_input], max: 0, w: 2, hard: true}'
LOOK_FIRST: Final = (
    '{id: "codebase_search|web_search|human_input<critic", type: precedence, '
    "a: [codebase_search, web_search, human_input], b: [critic], w: 1}"
)
UNREVIEWED: Final = 'if: {reviews_before_writer: ["<", 1]}, w: 2, hard: true, proof: [harm]'


def _must(node: str, proof: str, *, weight: int = 2) -> str:
    demand = f'id: "must:{node}", type: existence, a: [{node}], min: 1'
    return f"{{{demand}, w: {weight}, hard: true, proof: [{proof}]}}"


def _unneeded(node: str) -> str:
    """Weighs 3: with 2 the longest kit would let one wasted visit pass at a fitness of just 0.9."""
    return f'{{id: "unneeded:{node}", type: existence, a: [{node}], max: 0, w: 3}}'


def _before(one: str, other: str, rest: str = "w: 1") -> str:
    return f'{{id: "{one}<{other}", type: precedence, a: [{one}], b: [{other}], {rest}}}'


_CODE: Final = (
    END,
    _must("codebase_search", "gold"),
    _before("codebase_search", "writer"),
    _unneeded("web_search"),
    NEVER_ASK,
    LOOK_FIRST,
)
_ASK: Final = (
    END,
    _must("human_input", "user", weight=3),
    '{id: ask_at_most_once, type: existence, a: [human_input], max: 1, w: 2}',
    '{id: look_before_asking, type: precedence, a: [codebase_search, web_search], b: [human_input], w: 1}',
    LOOK_FIRST,
)  # fmt: skip
KITS: Final[Mapping[KitName, Kit]] = {
    "code": Kit(
        _CODE,
        target=4,
        max=6,
        exemplars=(
            "investigator, codebase_search, critic, writer",
            "investigator, codebase_search, codebase_search, critic, writer",
        ),
    ),
    "web": Kit(
        (END, _must("web_search", "page"), _before("web_search", "writer"), NEVER_ASK, LOOK_FIRST),
        target=5,
        max=6,
        exemplars=(
            "investigator, web_search, critic, writer",
            "investigator, codebase_search, web_search, critic, writer",
        ),
    ),
    "web_and_code": Kit(
        (
            END,
            _must("codebase_search", "gold"),
            _must("web_search", "page"),
            _before("codebase_search", "writer"),
            _before("web_search", "writer"),
            NEVER_ASK,
            LOOK_FIRST,
        ),
        target=5,
        max=6,
        exemplars=(
            "investigator, codebase_search, web_search, critic, writer",
            "investigator, web_search, codebase_search, critic, writer",
        ),
    ),
    "ask": Kit(
        _ASK,
        target=5,
        max=7,
        exemplars=("investigator, codebase_search, human_input, critic, writer",),
        may_ask=True,
    ),
    "critic_always": Kit(
        (*_CODE, _before("critic", "writer", UNREVIEWED)),
        target=4,
        max=6,
        exemplars=(
            "investigator, codebase_search, critic, writer",
            "investigator, codebase_search, codebase_search, critic, writer",
        ),
        overrides=('"P2b.no_critic_if_conf>=0.85"',),
    ),
    "no_search": Kit(
        (END, NEVER_ASK, _unneeded("codebase_search"), _unneeded("web_search")),
        target=3,
        max=4,
        exemplars=("investigator, critic, writer", "investigator, writer"),
    ),
}
KIT_OF: Final[Mapping[Archetype, KitName]] = {
    "third_party": "web",
    "version_or_cryptic_error": "web",
    "duplicate": "web_and_code",
    "environment_ambiguity": "ask",
    "insufficient_information": "ask",
    "security": "critic_always",
    "data_corruption": "critic_always",
    "feature_request": "no_search",
}


def kit_of(archetype: Archetype) -> Kit:
    """The kit of an archetype; those not listed, and forms such as a huge log, start from a bug in the code."""
    return KITS[KIT_OF.get(archetype, "code")]


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
        *([f"gold: {{}}  # {MARK}: paste what `dataset show {case_id} --gold` prints"] if category == "code" else []),
        *(ANSWERS if kit.may_ask else [FORBIDDEN]),
        *kit.lines(),
        *POINT,
        *([f"duplicate_of: {case_id}  # {MARK}: the original"] if category == "duplicate" else []),
        *([f"web: []  # {MARK}: the page that answers and three that only look like it"] if kit.searches_web else []),
    ]


HEAD: Final = """# `as-it-ran` is what the job ran with. Change `edited` (its prompt, guards, models) and see
# what becomes of the case; `evals plan` says what has to be recorded for it.
"""
UNKNOWN: Final = "model-of-the-job"


def write_suite(layout: Layout, case_id: str, job: LiveJob) -> Path:
    """Write the suite of a case beside the cases; returns its file."""
    path = layout.suite(case_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(suite_of(case_id, job), sort_keys=False, allow_unicode=True, width=120)
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def suite_of(case_id: str, job: LiveJob) -> dict[str, Any]:
    """The suite as plain data; models and limits are those of the requests, where they were kept."""
    variant = {
        "guards": job.guards,
        "supervisor": job.supervisor,
        "prompt": job.prompt,
        "plan": job.plan,
        "max_iterations": job.max_iterations,
    }
    same = {name: value for name, value in variant.items() if value is not None}
    return {
        "name": f"job-{case_id}",
        "description": f"Case {case_id} as the live job {job.name} ran it.",
        "cases": {"ids": [case_id]},
        "models": _models(job),
        "variants": [
            {"name": "as-it-ran", **same},
            {"name": "edited", **same},
        ],
        "candidate": "edited",
        "reference": "as-it-ran",
    }


def _models(job: LiveJob) -> dict[str, Any]:
    asked = {served.agent: served.request for served in reversed(job.served) if "model" in served.request}
    by_agent = {agent: str(request["model"]) for agent, request in asked.items()}
    default = Counter(by_agent.values()).most_common(1)[0][0] if by_agent else UNKNOWN
    limits = [request["max_completion_tokens"] for request in asked.values() if request.get("max_completion_tokens")]
    return {
        "default": default,
        "fallback": default,
        "agents": {agent: model for agent, model in by_agent.items() if model != default},
        **({"max_output_tokens": limits[0]} if limits else {}),
    }

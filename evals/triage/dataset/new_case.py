"""Write the files of a new case: from a template, a fixed bug in a repository's history, or a stored live job."""

import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from evals.cassettes import manifest
from evals.cassettes.cassette_data import Interaction
from evals.cassettes.cassette_files import merge_write
from evals.cassettes.cassette_format import json_text
from evals.cassettes.cassette_schema import excess
from evals.cassettes.live_answer import usage_of
from evals.cassettes.request_key import request_key
from evals.errors import ConfigurationError, RecordingError
from evals.secret_filter import FILE as ALLOWED_FILE
from evals.secret_filter import allowed_beside, redact_request, redact_response, scan, scrub
from evals.shared.git_command import GitError
from evals.triage.dataset.case_code import ABOUT, Codebase
from evals.triage.dataset.checks.label_checks import CATEGORY_OF
from evals.triage.dataset.checks.text_checks import MARK, SCHEMA_LINE
from evals.triage.dataset.dataset_layout import UNLABELLED, Archetype, Category, Gold, Layout
from evals.triage.dataset.derive_gold import edited
from evals.triage.dataset.imported_issue_files import RefusedRowError, read_fix
from evals.triage.dataset.repository_clones import Clone
from evals.workspace import Workspace

if TYPE_CHECKING:
    from evals.triage.imported_jobs import LiveJob, ServedRequest

ARCHETYPES: Final[tuple[Archetype, ...]] = get_args(Archetype)
ASKING_CATEGORY: Final[dict[Archetype, Category]] = {
    "environment_ambiguity": "environment",
    "insufficient_information": "insufficient",
}
ISSUE: Final = f"""{MARK}: the title, in the reporter's words; it does not name the cause

{MARK}: the body as on GitHub, 500 to 2,500 characters; what the reporter saw, tried, and wrongly suspects
"""
REPRO: Final = f'''"""{MARK}: what must hold, in one sentence."""

assert True, "{MARK}: fail with the patch, pass without; import the codebase and the standard library only"
'''
TEMPLATES: Final = Path(__file__).parent / "templates"


def scaffold(root: Path, case_id: str, codebase: str, archetype: str) -> list[Path]:
    """Write the files of a new case. Returns them, the labels first.

    Raises:
        ConfigurationError: the id is no id or is taken, or there is no such codebase or archetype; nothing is written.
    """
    layout = Layout(root)
    known = known_archetype(archetype)
    refuse_id(layout, case_id)
    if not layout.codebase(codebase).is_dir():
        there = sorted(path.name for path in layout.codebases.glob("[!.]*") if path.is_dir())
        raise ConfigurationError(f"--codebase {codebase}: there is no such codebase; there are {', '.join(there)}")
    files = {layout.labels(case_id): labels_text(case_id, known, codebase=codebase), layout.issue(case_id): ISSUE}
    if category_of(known) == "code":
        files |= {layout.patch(case_id): f"{MARK}: output of `git diff --relative` in the codebase\n"}
        files |= {layout.repro(case_id): REPRO}
    return write_files(files)


def write_files(files: Mapping[Path, str]) -> list[Path]:
    """Write texts by their paths; returns the paths."""
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return list(files)


def labels_text(
    case_id: str,
    archetype: Archetype,
    origin: Literal["", "git", "job"] = "",
    unlabelled: tuple[str, ...] = (),
    **filled: Any,  # noqa: ANN401 - values of the template
) -> str:
    """The text of `case.yaml` for a case written here, made from `git` or from a live `job`; `unlabelled` labels mean
    nothing until a person has looked, and are tagged so. `filled` is what the template says of that origin."""
    kinds = _routes()
    values = dict.fromkeys(("asked", "went", "states"), "") | filled
    return _template().render(
        **values,
        schema=SCHEMA_LINE,
        mark=MARK,
        id=case_id,
        origin=origin,
        archetype=archetype,
        category=category_of(archetype),
        tags=", ".join(UNLABELLED + label for label in unlabelled),
        route=kinds["routes"][kinds["kinds"].get(archetype, "code")].rstrip("\n"),
    )


@cache
def _template() -> Template:
    loader = FileSystemLoader(TEMPLATES)
    drawn = Environment(loader=loader, trim_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701 - YAML, no page
    return drawn.get_template("case.yaml.j2")


@cache
def _routes() -> dict[str, dict[str, str]]:
    """Kind of route by archetype, and the text of each kind; an archetype that is not listed is a bug in the code."""
    found: dict[str, dict[str, str]] = yaml.safe_load((TEMPLATES / "routes.yaml").read_text(encoding="utf-8"))
    return found


def category_of(archetype: Archetype) -> Category:
    """The category that a case of this kind most likely has."""
    return CATEGORY_OF.get(archetype) or ASKING_CATEGORY.get(archetype, "code")


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


def refuse_secrets(where: str, told: Mapping[str, Any], cassette: Path) -> None:
    """Raises ConfigurationError where texts of a new case look like they hold a secret; `where` they come from."""
    for found in scan(told, allowed=allowed_beside(cassette))[:1]:
        raise ConfigurationError(
            f"{where}: {found.rule} at {found.json_path}: no secret enters the dataset, nothing was written; "
            f"if it is none, allow sha256 {found.sha256} in cassettes/{ALLOWED_FILE}"
        )


_TEXTS: Final = frozenset({".md", ".rst", ".txt", ".adoc", ".lock"})
_DOCS: Final = frozenset({"doc", "docs"})
_FRAGMENTS: Final = frozenset({"newsfragments", "changelog", "changelog.d", "changes"})
_LOG: Final = re.compile(r"(?:change(?:log|s)?|news|history|authors)(?:[._-].*)?", re.IGNORECASE)
_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class FixedBug:
    """A bug that `fix` mended: the code it was in is that of `base`, the parent. `notes` say what is no gold."""

    repository: str
    base: str
    fix: str
    gold: Gold
    notes: tuple[str, ...]


def fixed_bug(clone: Clone, revision: str, repository: str | None = None) -> FixedBug:
    """What the commit `revision` of a clone mended; of a merge, all that it brought to its first parent.

    Raises ConfigurationError (one line) where there is no such commit, nothing before it, no code in what it changed,
    or no name to be had for the repository.
    """
    where = clone.folder
    name = repository or clone.repository()
    if not _REPOSITORY.fullmatch(name):
        raise ConfigurationError(f"{where}: its remote names no owner/name; give --repository OWNER/NAME")
    try:
        fix = clone.commit(revision)
        base = clone.parent(fix)
        found = read_fix(clone.diff(base, fix))
    except GitError as error:
        raise ConfigurationError(f"{where}: {error}") from error
    except RefusedRowError as refusal:
        raise ConfigurationError(f"{where}: {revision} is no fix: {refusal}") from refusal
    left_out = {path: why for path in found.files if (why := no_code(path))}
    notes = (*found.notes, *(f"{path}: {why}" for path, why in left_out.items()))
    files = tuple(path for path in found.files if path not in left_out)
    if not files:
        raise ConfigurationError(f"{where}: {revision} changes no code that was there before it: {'; '.join(notes)}")
    return FixedBug(name, base, fix, _gold(clone, base, fix, files), notes)


def no_code(path: str) -> str:
    """Why a file is no code that could be at fault; empty if it may be."""
    place = PurePosixPath(path)
    if any(part.startswith(".") for part in place.parts):
        return "is hidden"
    is_python = place.suffix == ".py"
    in_log = _LOG.fullmatch(place.name) or _FRAGMENTS.intersection(part.lower() for part in place.parts[:-1])
    if place.suffix.lower() in _TEXTS or place.parts[0].lower() in _DOCS or (in_log and not is_python):
        return "is a text"
    return ""


def _gold(clone: Clone, base: str, fix: str, files: tuple[str, ...]) -> Gold:
    moved = clone.renames(base, fix)
    texts = {path: (clone.text(base, path) or "", clone.text(fix, moved.get(path, path)) or "") for path in files}
    found = edited(texts)
    return Gold(files=files, functions=found.functions, whole_names=found.whole_names)


OPEN: Final = ("archetype", "severity", "root_cause", "question")
"""Labels that stand for nothing until a person has looked; gold is read off the fix."""


def refuse_archetype(archetype: Archetype) -> None:
    """Raises ConfigurationError for one in which no code is to blame: a fix says the contrary."""
    if category_of(archetype) != "code":
        raise ConfigurationError(f"--archetype {archetype}: blames no code, but a fix shows where code was to blame")


def write_case(
    layout: Layout, case_id: str, bug: FixedBug, archetype: Archetype, issue: str, repro: Path | None
) -> list[Path]:
    """Write the case's files; returns them."""
    gold = {"gold": bug.gold.model_dump(mode="json", exclude_defaults=True)}
    shown = yaml.safe_dump(gold, sort_keys=False, allow_unicode=True, width=120).rstrip("\n")
    labels = labels_text(case_id, archetype, "git", OPEN, bug=bug, gold=shown)
    written = write_files({layout.labels(case_id): labels, layout.issue(case_id): issue})
    if repro is None:
        return written
    return [*written, Path(shutil.copyfile(repro, layout.repro(case_id)))]


OPEN_OF_JOB: Final = ("archetype", "severity", "category", "root_cause", "gold", "functions", "question")
"""Labels that stand for nothing until a person has looked."""
KEYWORDS: Final = 8
"""Words of a question, the longest first, that are proposed to know it by."""
HEAD: Final = """# `as-it-ran` is what the job ran with. Change `edited` (its prompt, guards, models) and see
# what becomes of the case; `evals plan` says what has to be recorded for it.
"""
UNKNOWN: Final = "model-of-the-job"


@dataclass(frozen=True)
class NewCase:
    """What was written, and whether the job's traffic is among it, so that the case replays."""

    files: tuple[Path, ...]
    replays: bool


def case_of_job(
    case_id: str, job: "LiveJob", workspace: Workspace, archetype: Archetype, codebase: str | None = None
) -> NewCase:
    """Write case, code, a suite that runs it and, of kept traffic, its cassette.

    Raises:
        ConfigurationError: there is a recording of that name, or something in the job looks like a secret; nothing is
            written. SecretFoundError: the same, of its traffic.
    """
    layout, cassette = Layout(workspace.datasets), workspace.cassette(case_id)
    # its traffic is looked at where it is written
    told = job.model_dump(mode="json", include={"title", "body", "url", "asked", "states"})
    refuse_secrets(f"job {job.name}", told, cassette)
    if cassette.exists():
        raise ConfigurationError(f"{cassette}: there is a recording of that name; choose another id")
    served = _interactions_of(job.served, recorded_by=f"live job {job.name}")
    if served:
        merge_write(cassette, served, move=manifest.move_listed)  # refuses a secret before anything is written
    written = [*_write_case(layout, case_id, job, archetype, codebase), *write_suite(layout, case_id, job)]
    return NewCase((*written, *([cassette] if served else [])), bool(served))


def _write_case(layout: Layout, case_id: str, job: "LiveJob", archetype: Archetype, codebase: str | None) -> list[Path]:
    """Write the case, and its code as a codebase unless that is there; returns the files written, of code the last."""
    name = codebase or codebase_name(job)
    last = layout.codebase(name) / (ABOUT if codebase is None else "")  # a kill may have left part of our own
    written = [] if last.exists() else [_write_code(layout.codebase(name), job)]
    labels = labels_text(
        case_id,
        archetype,
        "job",
        OPEN_OF_JOB,
        codebase=name,
        source=_flow({"source": "job", "name": job.name, "url": job.url}),
        # what the person said is what the simulated user says, to whoever asks in the same words
        asked=[{"keywords": _flow(_keywords(one.question)), "answer": _flow(one.answer)} for one in job.asked],
        went=", ".join(job.route),
        states=_candidates(job.states),
    )
    issue = f"# {job.title}\n\n{job.body}\n"
    return [*written, *write_files({layout.labels(case_id): labels, layout.issue(case_id): issue})]


def codebase_name(job: "LiveJob") -> str:
    """What the code is called in the dataset: jobs on the same code share it."""
    content = hashlib.sha256(repr(sorted(job.code.items())).encode("utf-8", "surrogatepass")).hexdigest()
    plain = re.sub(r"[^\w.-]+", "-", job.repository)
    return f"{plain}-{content[:12]}"


def _write_code(folder: Path, job: "LiveJob") -> Path:
    write_files({folder / name: text for name, text in job.code.items()})
    description = f"What the live job {job.name} could read of its checkout."
    about = Codebase(repository=job.repository, description=description, revision=job.revision)
    (folder / ABOUT).write_text(yaml.safe_dump(about.model_dump(), sort_keys=False), encoding="utf-8")
    return folder / ABOUT


def _keywords(question: str) -> list[str]:
    """The longest words of a question; of one without any, a word that most questions have."""
    words = {word.casefold() for word in re.findall(r"\w+", question)}
    return sorted(words, key=lambda word: (-len(word), word))[:KEYWORDS] or ["what"]


def _candidates(states: Sequence[dict[str, Any]]) -> str:
    """Behind comment signs: a state without a label is none, and what the supervisor chose in it must not make one."""
    points = [{"id": f"decision-{n}", "why": "", "accept": {}, "state": state} for n, state in enumerate(states)]
    text = yaml.safe_dump({"decision_points": points}, sort_keys=False, allow_unicode=True, width=120)
    return "\n".join(f"# {line}" for line in text.splitlines()) if points else ""


def _flow(value: Any) -> str:  # noqa: ANN401 - plain data
    """The value on one line."""
    return yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6).removesuffix("...\n").strip()


def write_suite(layout: Layout, case_id: str, job: "LiveJob") -> list[Path]:
    """Write the suite of a case beside the cases; returns its file."""
    text = yaml.safe_dump(suite_of(case_id, job), sort_keys=False, allow_unicode=True, width=120)
    return write_files({layout.suite(case_id): HEAD + text})


def suite_of(case_id: str, job: "LiveJob") -> dict[str, Any]:
    """The suite as plain data; models and limits are those of the requests, where they were kept."""
    settings = ("guards", "supervisor", "prompt", "plan", "max_iterations")
    same = {name: value for name in settings if (value := getattr(job, name)) is not None}
    return {
        "name": f"job-{case_id}",
        "description": f"Case {case_id} as the live job {job.name} ran it.",
        "cases": {"ids": [case_id]},
        "models": _models(job),
        "variants": [{"name": "as-it-ran", **same}, {"name": "edited", **same}],
        "candidate": "edited",
        "reference": "as-it-ran",
    }


def _models(job: "LiveJob") -> dict[str, Any]:
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


_PATHS: Final = ("/v1/chat/completions", "/search")
"""What requests of a replay are called; a live endpoint may have them below a folder of its own."""


def _interactions_of(served: "Iterable[ServedRequest]", recorded_by: str) -> list[Interaction]:
    """What can be replayed of the traffic, each request once; answers of other protocols are left out.

    Raises RecordingError where an answer says of itself what cannot be kept.
    """
    found: dict[str, Interaction] = {}
    for one in served:
        path = next((path for path in _PATHS if one.path.endswith(path.removeprefix("/v1"))), None)
        if path is None:
            continue
        body = redact_request(one.request)
        answer = redact_response(path, one.response)
        if found_excess := excess(answer):
            raise RecordingError(f"the kept answer to {scrub(one.agent)} has {found_excess}; it makes no case")
        key = request_key("POST", path, json_text(body).encode())
        found.setdefault(
            key,
            Interaction(
                key=key,
                agent=one.agent,
                model=str(answer.get("model") or body.get("model") or ""),
                uri=path,
                request=body,
                response=answer,
                recorded_at=one.at,
                usage=usage_of(answer),
                latency_ms=one.latency_ms,
                recorded_by=recorded_by,
            ),
        )
    return list(found.values())

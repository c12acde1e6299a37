"""The baseline of a suite: the blessed run, the models that answered, and whether it is still comparable."""

import ast
import hashlib
import io
import json
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from evals import atomic_files as disk
from evals.application_pack import load_pack
from evals.content_cache import digest_of
from evals.errors import CannotJudgeError
from evals.models.case import Case
from evals.models.metrics import Scored
from evals.models.run import Baseline, BlessedBehaviour, CaseInfo, EarlierPrompt, Trial, VariantInfo
from evals.paths import PACKAGE
from evals.scoring.registry import LOADED, files_scored, own_files, safety_metrics, scorers
from evals.scoring.route_scorers import Cases, decision_score, state_grades
from evals.source_loader import executed

if TYPE_CHECKING:
    from evals.application_pack import Pack

AnsweredBy = Mapping[str, Mapping[str, Sequence[str]]]
"""Agent -> models, joined by " and " -> the cases they answered; no cases are listed for the most frequent models."""
FILE_READ: Final = "read by scorers: "
"""How the digest of such a file is named in a run."""
DECISION_POINTS: Final = "decision points"
"""The name under which answers in decision points are kept: they are asked outside of any trial."""


def answered_by(trials: Sequence[Trial], variant: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """The models behind everything that was scored of a variant: of exact trials, and of all decision points."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for agent, cases in sorted(_by_agent(trials, variant).items()):
        (most, _), *_ = sorted(Counter(cases.values()).items(), key=lambda item: (-item[1], item[0]))
        others = sorted(set(cases.values()) - {most})
        found[agent] = {
            most: (),
            **{models: tuple(sorted(case for case, by in cases.items() if by == models)) for models in others},
        }
    return found


@dataclass(frozen=True)
class DifferentModels:
    """`now` answered a variant where `was` answered the other side; `where` names agents and counts cases."""

    now: str
    was: str
    where: str


def different_models(
    trials: Sequence[Trial], variant: str, mine: AnsweredBy, other: AnsweredBy
) -> list[DifferentModels]:
    """Which agents of a variant were answered by other models than on the other side; one entry per pair of models.
    `mine` is what `answered_by` says of the variant.

    Both sides are compared case by case. An agent that only one side has answered nothing on the other: no difference.
    """
    if all(mine[agent] == other[agent] for agent in mine.keys() & other.keys()):
        return []
    agents: dict[tuple[str, str], list[str]] = {}
    places: dict[tuple[str, str], set[str]] = {}
    for agent, cases in sorted(_by_agent(trials, variant).items()):
        if not (there := other.get(agent)):
            continue
        usual = next(models for models, listed in there.items() if not listed)
        listed = {case: models for models, some in there.items() for case in some}
        for case, models in cases.items():
            if (was := listed.get(case, usual)) != models:
                agents.setdefault((models, was), []).append(agent)
                places.setdefault((models, was), set()).add(case)
    total = len({trial.trace.case_id for trial in trials if trial.trace.variant == variant})
    return [
        DifferentModels(now, was, f"{', '.join(dict.fromkeys(agents[now, was]))} in {len(cases)} of {total} cases")
        for (now, was), cases in places.items()
    ]


def _by_agent(trials: Sequence[Trial], variant: str) -> dict[str, dict[str, str]]:
    """Agent -> case -> the models that answered it there."""
    names: dict[tuple[str, str], set[str]] = {}
    for trace in (trial.trace for trial in trials if trial.trace.variant == variant):
        if trace.provenance.label == "exact":
            for call in trace.calls:
                if call.model:
                    names.setdefault((call.agent, trace.case_id), set()).add(call.model)
        for point in trace.points:
            if point.models:
                names.setdefault((DECISION_POINTS, trace.case_id), set()).update(point.models)
    found: dict[str, dict[str, str]] = {}
    for (agent, case), models in names.items():
        found.setdefault(agent, {})[case] = " and ".join(sorted(models))
    return found


def imported_by(
    modules: Iterable[Path], package: Path, without: Collection[str] = (), *, is_root: bool = False
) -> dict[Path, bytes]:
    """The content of these modules and of all they import from the package, sorted by path; `is_root`: from whatever is
    in that folder.

    Packages on the way count as well: Python executes their `__init__`. Imports for the type checker alone do not, nor
    do the subpackages named in `without`.
    """
    found: dict[Path, bytes] = {}
    waiting, seen = list(modules), set[str]()
    while waiting:
        module = waiting.pop()
        if module not in found and not (without and module.relative_to(package).parts[0] in without):
            found[module] = module.read_bytes()
            new = set(_names(found[module])) - seen  # most modules import the same
            waiting += [path for name in new for path in _files(name, package, is_root=is_root)]
            seen |= new
    return dict(sorted(found.items()))


@lru_cache(1024)
def _names(source: bytes) -> tuple[str, ...]:
    """What a source imports: modules, and names that may be modules."""
    found = []
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    return tuple(found)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements but those below `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.stmt | ast.ExceptHandler):
            yield child
            yield from _statements(child)


def _files(name: str, package: Path, *, is_root: bool = False) -> Iterator[Path]:
    """The files that Python executes for a module: its own, and the `__init__` of each package it is in. That of
    the whole package is left out: it loads nothing."""
    first, *rest = ("", *name.split(".")) if is_root else name.split(".")
    for depth in range(1, len(rest) + 1) if is_root or first == package.name else ():
        place = package.joinpath(*rest[:depth])
        yield from (path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file())


_SCORING: Final = (
    "scoring/registry.py",
    "scoring/route_scorers.py",
    "comparison/metric_summaries.py",
    "comparison/paired_comparison.py",
)
"""The modules that compute the numbers a baseline holds, and what they are compared as. All they import counts too."""
_PRICES: Final = "prices.yaml"
_UPWARD: Final = ("report", "application_pack.py", "project.py")
"""What is imported by a method that no number needs (`Run.frame`), or only to find the modules of the pack, which count
themselves."""


def path_of(folder: Path, suite: str) -> Path:
    """Where a suite's baseline stands."""
    return folder / f"{suite}.json"


def load_baseline(path: Path) -> Baseline | None:
    """The baseline at `path`; None when nobody has blessed one yet.

    Raises:
        CannotJudgeError: the file is there but cannot be read.
    """
    if not path.exists():
        return None
    try:
        found = Baseline.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise CannotJudgeError(f"{path}: not a baseline ({where}: {first['msg']}); restore it from git") from error
    if not found.intact:
        raise CannotJudgeError(
            f"{path}: edited, merged or damaged since it was blessed; restore it from git, or bless the suite again"
        )
    if found.suite != path.stem:
        raise CannotJudgeError(f"{path}: the baseline of suite {found.suite}; restore it from git")
    return found


def make_baseline(
    suite: str,
    cases: Sequence[Case] | Sequence[CaseInfo],
    variants: Sequence[VariantInfo],
    trials: Sequence[Trial],
    scorers: str | None = None,
    cassettes: Mapping[str, str] | None = None,
    default_prompts: Mapping[str, str] | None = None,
    pack: "Pack | None" = None,
    behaviour: BlessedBehaviour | None = None,
    files_read: Mapping[str, str] | None = None,
) -> Baseline:
    """The baseline these trials would be: exact trials only, and only what was scored. `scorers` is the digest of
    those that scored them, if it was not the present ones; `files_read` is what they had read, if that is not all that
    was read in this process; `cassettes` are the digests of the files that answered; `default_prompts` are those of
    `triage run`; the pack is the default one if not given; `behaviour` is for `changed_cases`."""
    exact = [trial for trial in trials if trial.trace.provenance.label == "exact"]
    names = [info.variant.name for info in variants]
    return Baseline(
        suite=suite,
        topology=topology(trials),
        scorers=scorers or scorers_digest(pack),
        files_read=files_scored(pack or load_pack()) if files_read is None and not scorers else dict(files_read or {}),
        cases={case.id: case.digest for case in cases},
        cassettes=dict(cassettes or {}),
        prompts={info.variant.name: info.prompt_digest for info in variants},
        prompt_lines={
            info.prompt_digest: tuple(info.prompt_text.splitlines()) for info in variants if info.prompt_text
        },
        values={name: _values(exact, name) for name in names},
        states={name: _states(exact, {case.id: case for case in cases}, name) for name in names},
        hard_violations={name: hard_violations(exact, name) for name in names},
        leaks={name: tuple(leaks(exact, name, pack)) for name in names},
        routes={name: _routes(exact, name) for name in names},
        answered_by={name: found for name in names if (found := answered_by(trials, name))},
        default_prompts=dict(default_prompts or {}),
        behaviour=behaviour,
    )


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write it sorted, so that a review sees what changed and nothing else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    told = json.loads(json.dumps(baseline.model_dump(mode="json"), sort_keys=True))
    in_order = Baseline.model_validate(told).sealed()  # the digest is of members in the order of the file
    text = json.dumps(in_order.model_dump(mode="json"), indent=1, sort_keys=True, ensure_ascii=False)
    disk.replace(path, text + "\n")


def with_blessed(variants: Sequence[VariantInfo], baseline: Baseline | None) -> tuple[VariantInfo, ...]:
    """The variants, each whose prompt is another than the blessed one with the blessed text, if that was kept: it is
    what the blessed numbers rest on, and so comes before any other earlier text."""
    return tuple(_since_blessed(info, baseline) if baseline else info for info in variants)


def _since_blessed(info: VariantInfo, baseline: Baseline) -> VariantInfo:
    digest = baseline.prompts.get(info.variant.name, info.prompt_digest)
    lines = baseline.prompt_lines.get(digest, ())
    if digest == info.prompt_digest or not lines or lines == tuple(info.prompt_text.splitlines()):
        return info
    text = "".join(f"{line}\n" for line in lines)
    return info.model_copy(update={"earlier": EarlierPrompt(since="blessed", text=text)})


def incomparable(baseline: Baseline, now: Baseline, command: str) -> tuple[str, ...]:
    """What changed under the numbers since the baseline, one sentence each; empty if they compare."""
    found = []
    both = baseline.topology.keys() & now.topology.keys()
    if any(baseline.topology[name] != now.topology[name] for name in both):
        found.append("the graph has other nodes or edges than when the baseline was made")
    if left := sorted(baseline.prompts.keys() - now.prompts.keys()):
        found.append(f"{', '.join(left)} was blessed, and is no variant of the suite any more")
    if baseline.scorers != now.scorers:
        found.append("the scorers have changed since the baseline was made")
    was = {**dict.fromkeys(now.files_read, digest_of(b"")), **baseline.files_read}  # unread: as if it was not there
    if read := sorted(path for path, digest in now.files_read.items() if was[path] != digest):
        found.append(f"{', '.join(read)}, which the scorers read, changed since the baseline")
    changed = sorted(
        case for case in baseline.cases.keys() & now.cases.keys() if baseline.cases[case] != now.cases[case]
    )
    if changed:
        found.append(f"labels, issue or code changed since the baseline: {', '.join(changed)}")
    for verb, others in (
        ("new", now.cases.keys() - baseline.cases.keys()),
        ("gone", baseline.cases.keys() - now.cases.keys()),
    ):
        if others:
            found.append(f"{verb} since the baseline: {', '.join(sorted(others))}")
    return tuple(f"{text}; look at the report, then run `{command}`" for text in found)


def hard_violations(trials: Sequence[Trial], variant: str) -> dict[str, tuple[str, ...]]:
    """Case -> hard constraints that any sample of this variant violates; exact trials only."""
    found: dict[str, dict[str, None]] = {}
    for trial in trials:
        if trial.trace.variant == variant and trial.trace.provenance.label == "exact" and trial.hard_violations:
            found.setdefault(trial.trace.case_id, {}).update(dict.fromkeys(trial.hard_violations))
    return {case: tuple(violated) for case, violated in found.items()}


def leaks(trials: Sequence[Trial], variant: str, pack: "Pack | None" = None) -> dict[str, tuple[str, ...]]:
    """Case -> the safety metrics that are 0 in it under this variant, as where a canary reached an output; exact trials
    only."""
    mine = [trial for trial in trials if trial.trace.variant == variant and trial.trace.provenance.label == "exact"]
    names = safety_metrics(pack)
    found: dict[str, dict[str, None]] = {}
    for trial in sorted(mine, key=lambda trial: trial.trace.case_id):
        if leaked := [name for name in names if value_of(trial, name) == 0.0]:
            found.setdefault(trial.trace.case_id, {}).update(dict.fromkeys(leaked))
    return {case: tuple(leaked) for case, leaked in found.items()}


def leaked_before(baseline: Baseline | None, variant: str, case: str, metric: str) -> bool:
    """Whether a safety metric was 0 in a case when it was blessed. The baseline keeps the cases of all such metrics
    together, and the mean of each over repeats: of one that was 0 once, that is at most what all others at 1 give."""
    if baseline is None or case not in baseline.leaks.get(variant, ()):
        return False
    mean = baseline.values.get(variant, {}).get(case, {}).get(metric)
    repeats = len(baseline.routes.get(variant, {}).get(case, ())) or 1
    return mean is not None and mean <= (repeats - 1) / repeats


def topology(trials: Sequence[Trial]) -> dict[str, str]:
    """Variant -> digest of its graph's edges, which may differ (a guard set can end the graph elsewhere).

    A trial that ran off the tape had a graph as well; one that never started had none.
    """
    edges = {trial.trace.variant: trial.trace.topology for trial in trials if trial.trace.topology}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(edges.items())}


def scorers_digest(pack: "Pack | None" = None) -> str:
    """A digest of what scores rest on: the code that computes them with all it imports from this package, and prices.
    Blank lines and comments change nothing.

    Lines rather than syntax trees, whose dump differs between versions of Python.

    Raises:
        CannotJudgeError: a file is no longer what this process executes.
    """
    pack = pack or load_pack()
    own = [PACKAGE / each for each in _SCORING]
    own += [path for name in pack.scorers if name.startswith("evals.") for path in _files(name, PACKAGE)]
    files = imported_by(own, PACKAGE, without=_UPWARD)
    projects = scorer_files(pack) | _read_at_load(pack)
    if other := [path.name for path, content in (files | projects).items() if not _is_executed(path, content)]:
        raise CannotJudgeError(f"changed while the run was under way: {', '.join(sorted(other))}; run it again")
    texts = [content.decode() for content in (*files.values(), (PACKAGE / _PRICES).read_bytes())]
    lines = [line.rstrip() for text in texts for line in text.splitlines()]
    code = [line for line in lines if line and not line.lstrip().startswith("#")]
    code += [line for path, content in projects.items() for line in _lines(path, content)]
    return hashlib.sha256("\n".join(code).encode()).hexdigest()


def scorer_files(pack: "Pack") -> dict[Path, bytes]:
    """The files of the pack's scorers outside of this package, and all that they import from their project."""
    found: dict[Path, bytes] = {}
    for name in pack.scorers:
        if name.startswith("evals."):
            continue
        if own := _modules(name, pack):
            found |= imported_by(own, pack.root, is_root=True)
        elif find_spec(name.partition(".")[0]) and (spec := find_spec(name)):
            path = Path(spec.origin or "")
            found |= imported_by([path], path.parents[name.count(".") - 1] if "." in name else path.parent)
    return found


def _modules(name: str, pack: "Pack") -> list[Path]:
    """The files of the project that the name of scorers stands for."""
    if name.endswith(".py"):
        return [(pack.root / name).resolve()]
    below = ([*_files(name, folder, is_root=True)] for folder in (pack.root, pack.root / "src"))
    return next(filter(None, below), [])


def _read_at_load(pack: "Pack") -> dict[Path, bytes]:
    """What else was read when scorers were loaded: modules below the project's root, and data beside the scorers."""
    own = [path for name in pack.scorers if not name.startswith("evals.") for path in _modules(name, pack)]
    if own:
        scorers(pack)  # loads them
    root = pack.root.resolve()
    folders = {path.parent for path in own} - {root}  # the root has what the graph reads
    found = [path for path in own_files(LOADED) if path.is_file()]
    places = {path: (*folders, root) if path.suffix == ".py" else folders for path in found if own}
    return {path: path.read_bytes() for path in places if any(map(path.is_relative_to, places[path]))}


def _lines(path: Path, content: bytes) -> list[str]:
    """Those of a file that say something: of code all but blank lines and comments, which may stand in a text."""
    if path.suffix != ".py":
        return [hashlib.sha256(content).hexdigest()]
    tokens = tokenize.tokenize(io.BytesIO(content).readline)
    empty = {one.start[0] for one in tokens if one.type == tokenize.NL and one.line.strip()[:1] in ("", "#")}
    return [line for number, line in enumerate(content.decode().split("\n"), 1) if number not in empty]


def _is_executed(path: Path, content: bytes) -> bool:
    """Whether this is the source that this process executes, if it executes any of it."""
    return executed().get(str(path), found := hashlib.sha256(content).hexdigest()) == found


def _values(trials: Sequence[Trial], variant: str) -> dict[str, dict[str, float]]:
    """Case -> scorer -> value, samples averaged."""
    collected: dict[str, dict[str, list[float]]] = {}
    for trial in trials:
        if trial.trace.variant == variant:
            case = collected.setdefault(trial.trace.case_id, {})
            for name, outcome in trial.outcomes.items():
                if isinstance(outcome, Scored):
                    case.setdefault(name, []).append(outcome.value)
    return {case: _means(scores) for case, scores in collected.items()}


def _routes(trials: Sequence[Trial], variant: str) -> dict[str, dict[int, str]]:
    """Case -> sample -> where its decisions went."""
    found: dict[str, dict[int, str]] = {}
    for trace in (trial.trace for trial in trials if trial.trace.variant == variant):
        found.setdefault(trace.case_id, {})[trace.sample] = " ".join(one.routed for one in trace.decisions)
    return found


def _states(trials: Sequence[Trial], cases: Cases, variant: str) -> dict[str, dict[str, float]]:
    """Case -> decision point -> grade, samples averaged."""
    found: dict[str, dict[str, float]] = {}
    for state, grade in state_grades(trials, cases, variant, decision_score.name).items():
        found.setdefault(state.case_id, {})[state.point] = grade
    return found


def _means(scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: sum(values) / len(values) for name, values in scores.items()}


def value_of(trial: Trial, scorer: str) -> float | None:
    """The score of a trial, None where it has none."""
    outcome = trial.outcomes.get(scorer)
    return outcome.value if isinstance(outcome, Scored) else None

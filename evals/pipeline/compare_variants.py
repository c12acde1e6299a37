"""Compare variants, prompt files or revisions as a suite of their own."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import yaml

from evals.comparison.stored_side import StoredSide, compared_sides, side_of_run
from evals.errors import ConfigurationError, nearest_name
from evals.models.run import Run
from evals.models.run_request import Options
from evals.models.suite import GatePolicy, Suite, Variant
from evals.paths import path_of_user
from evals.pipeline.decide_run import decide
from evals.pipeline.load_suite import HERE, UNCHANGED, loaded, selected
from evals.pipeline.read_sides import named_apart, pack_of, read_sides
from evals.pipeline.run_suite import replay
from evals.prompt_versions import PREFIX, PromptRevision
from evals.run_context import Progress, RunContext, unwatched
from evals.suites.suite_files import read_suite
from evals.workspace import Workspace


@dataclass(frozen=True)
class Operand:
    """One side of a comparison: the variant, and where its prompt comes from if that is no file of the checkout."""

    variant: Variant
    source: str | None = None


def operands(specs: Sequence[str], suite: Suite, workspace: Workspace, *, alone: bool = True) -> list[Operand]:
    """The sides in order; a lone revision is compared with the working tree, unless others are stored (not `alone`).

    Raises:
        ConfigurationError: something names neither a variant, nor a prompt file, nor a prompt of a revision.
    """
    if workspace.pack.own_endpoint:
        from evals.pipeline.read_sides import target_sides  # noqa: PLC0415 - loads what only targets need

        return [Operand(variant) for variant in target_sides(specs, suite, workspace, alone=alone)]
    candidate = next(one for one in suite.variants if one.name == suite.candidate)
    named = [spec for spec in specs if not spec.startswith(PREFIX)]
    own = next((one for one in (_named(spec, suite) for spec in named) if one.settings.get("prompt")), candidate)
    prompt = own.settings.get("prompt") or ""
    if alone and len(specs) == 1 and not named:
        revision = PromptRevision.parse(specs[0], prompt, workspace.pack)
        specs = [specs[0], revision.what]
    if alone and len(specs) < 2:
        raise ConfigurationError(f"{' '.join(specs)}: nothing to compare it with; name two, or one git:REV")
    return [
        _as_of(PromptRevision.parse(spec, prompt, workspace.pack), own, workspace)
        if spec.startswith(PREFIX)
        else Operand(_named(spec, suite))
        for spec in specs
    ]


def ad_hoc(sides: Sequence[Operand], suite: Suite, workspace: Workspace, called: str = "") -> Path:
    """The suite file of a comparison: the cases of `suite`, the first side as reference, the last one judged; `called`
    by the names of all sides if nothing is given.

    It is kept, so that `evals record` can fill what is missing.
    """
    names = [side.variant.name for side in sides]
    told = {
        **suite.model_dump(mode="json", exclude_none=True),
        "name": re.sub(r"^\.|[^\w.@+ -]", "_", called or " ".join(names)),  # a prompt file is named by its path
        "description": f"{' against '.join(reversed(names))}, on the cases of suite {suite.name}.",
        "variants": [side.variant.model_dump(mode="json", exclude_none=True) for side in sides],
        "candidate": names[-1],
        "reference": names[0],
    }
    folder = workspace.cache / "compare"
    folder.mkdir(parents=True, exist_ok=True)
    slug = re.sub(r"[^\w.-]+", "_", "-".join([suite.name, *(called.split() or names)]))
    path = folder / f"{slug}.yaml"
    path.write_text(yaml.safe_dump(told, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return Path(os.path.relpath(path))


def _named(spec: str, suite: Suite) -> Variant:
    """A variant of the suite, or its candidate with another prompt: a version, or a file."""
    known = {variant.name: variant for variant in suite.variants}
    if spec in known:
        return known[spec]
    if spec.endswith(".md") and not Path(spec).is_file():
        hint = nearest_name(spec, map(str, Path(spec).parent.glob("*.md")))
        raise ConfigurationError(f"{spec}: no such prompt file; name one, or a variant: {', '.join(known)}{hint}")
    return known[suite.candidate].model_copy(update={"name": spec, "prompt": spec})


def _as_of(revision: PromptRevision, own: Variant, workspace: Workspace) -> Operand:
    """The variant with the prompt of a revision, whose text is kept below the caches under its digest."""
    text = revision.read(workspace.root)
    path = workspace.cache / "prompts" / hashlib.sha256(text.encode()).hexdigest()[:16] / Path(revision.path).name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    variant = own.model_copy(update={"name": revision.name, "prompt": os.path.relpath(path)})
    return Operand(variant, f"{PREFIX}{revision.revision}:{revision.path}")


def compare(
    sides: Sequence[str],
    suite: str = "prompts",
    root: Path | str = HERE,
    options: Options = UNCHANGED,
    *,
    jobs: int = 1,
    fresh: bool = False,
    progress: Progress = unwatched,
    today: date | None = None,
    metrics: Sequence[str] = (),
    policy: Callable[[GatePolicy], GatePolicy] = lambda policy: policy,
    stored: Mapping[str, Sequence[StoredSide]] | None = None,
) -> Run:
    """The last side judged against the first; no baseline has a say. Stored sides are compared on the cases they share.

    Args:
        sides: variants of the suite, prompt files (.md), `git:REV`, `git:REV:v3` or `git:REV:path.md`; stored runs,
            baselines and result files as `read_sides` takes them.
        suite: whose cases, models and policy to use for what is replayed.
        root: the checkout.
        options: which cases.
        jobs: worker processes; 1 runs in this one.
        fresh: run everything, also what is unchanged.
        progress: called once per trial, as they come.
        today: the day an opening of the holdout is counted under; that of the clock if not given.
        metrics: those that decide; none: the primary ones.
        policy: changes alpha, margin and the like.
        stored: what `read_sides` gave, if it was asked already.

    Raises:
        ConfigurationError: something names neither a variant, nor a prompt file, nor a revision, nor a stored result.
        CannotJudgeError: no case is selected, or all are held out; or the sides have no case and metric in common.
    """
    if isinstance(sides, str):
        raise ConfigurationError(f"compare: sides is {sides!r}; write [{sides!r}, ...]")
    place = path_of_user(root, "root")
    stored = read_sides(sides, place, suite) if stored is None else stored
    if stored and options.cases:
        raise ConfigurationError("--case: stored results are compared on all cases they share; leave it out")
    live = [spec for spec in sides if spec not in stored]
    found = {}
    if live:
        context = loaded(
            _opposed(live, suite, place, options, metrics, policy, alone=not stored), today, own_baseline=False
        )
        run = decide(context, replay(context, jobs=jobs, fresh=fresh, progress=progress))
        if not stored:
            return run
        run = run.model_copy(update={"suite": read_suite(suite, place).name})
        names = [info.variant.name for info in run.variants]
        found = {spec: [side_of_run(run, name, "now")] for spec, name in zip(live, names, strict=True)}
    chosen = [side for spec in sides for side in (stored.get(spec) or found[spec])]
    if len(chosen) < 2:
        raise ConfigurationError(f"{' '.join(sides)}: one variant, and nothing to compare it with; name two sides")
    gate = policy(next((side.gate for side in reversed(chosen) if side.gate), GatePolicy()))
    return compared_sides(named_apart(chosen), gate, metrics, pack_of(chosen, place))


def _opposed(
    specs: Sequence[str],
    suite: str,
    root: Path,
    options: Options,
    metrics: Sequence[str],
    policy: Callable[[GatePolicy], GatePolicy],
    *,
    alone: bool,
) -> RunContext:
    """The sides on the cases of `suite`: the first as reference, the last one judged."""
    workspace = Workspace.at(root, options.dataset)
    own = read_suite(suite, root)
    basis = own.model_copy(update={"gate": policy(own.gate), "primary": tuple(metrics) or own.primary})
    sides = operands(specs, basis, workspace, alone=alone)
    chosen = selected(str(ad_hoc(sides, basis, workspace)), root, options)
    sources = {side.variant.name: side.source for side in sides}
    infos = [
        info.model_copy(update={"prompt_source": sources[info.variant.name] or info.prompt_source})
        for info in chosen.variants
    ]
    return replace(chosen, variants=infos)

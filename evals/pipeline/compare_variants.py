"""Compare variants, prompt files or revisions as a suite of their own."""

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import yaml

from evals.errors import ConfigurationError, nearest_name
from evals.models.run import Run
from evals.models.run_request import Options
from evals.models.suite import Suite, Variant
from evals.paths import path_of_user
from evals.pipeline.decide_run import decide
from evals.pipeline.load_run import HERE, UNCHANGED, loaded, selected
from evals.pipeline.run_suite import replay
from evals.prompt_history import PREFIX, PromptRevision
from evals.run_context import Progress, RunContext, unwatched
from evals.suites.suite_files import read_suite
from evals.workspace import Workspace


@dataclass(frozen=True)
class Operand:
    """One side of a comparison: the variant, and where its prompt comes from if that is no file of the checkout."""

    variant: Variant
    source: str | None = None


def operands(specs: Sequence[str], suite: Suite, workspace: Workspace) -> list[Operand]:
    """The sides in order; a lone revision is compared with the working tree.

    Raises:
        ConfigurationError: something names neither a variant, nor a prompt file, nor a prompt of a revision.
    """
    candidate = next(one for one in suite.variants if one.name == suite.candidate)
    named = [spec for spec in specs if not spec.startswith(PREFIX)]
    own = next((one for one in (_named(spec, suite) for spec in named) if one.settings.get("prompt")), candidate)
    prompt = own.settings.get("prompt") or ""
    if len(specs) == 1 and not named:
        revision = PromptRevision.parse(specs[0], prompt, workspace.pack)
        specs = [specs[0], revision.what]
    if len(specs) < 2:
        raise ConfigurationError(f"{' '.join(specs)}: nothing to compare it with; name two, or one git:REV")
    return [
        _as_of(PromptRevision.parse(spec, prompt, workspace.pack), own, workspace)
        if spec.startswith(PREFIX)
        else Operand(_named(spec, suite))
        for spec in specs
    ]


def ad_hoc(sides: Sequence[Operand], suite: Suite, workspace: Workspace) -> Path:
    """The suite file of a comparison: the cases of `suite`, the first side as reference, the last one judged.

    It is kept, so that `evals record` can fill what is missing.
    """
    names = [side.variant.name for side in sides]
    told = {
        **suite.model_dump(mode="json", exclude_none=True),
        "name": re.sub(r"^\.|[^\w.@+ -]", "_", " ".join(names)),  # a prompt file is named by its path
        "description": f"{' against '.join(reversed(names))}, on the cases of suite {suite.name}.",
        "variants": [side.variant.model_dump(mode="json", exclude_none=True) for side in sides],
        "candidate": names[-1],
        "reference": names[0],
    }
    folder = workspace.cache / "compare"
    folder.mkdir(parents=True, exist_ok=True)
    slug = re.sub(r"[^\w.@-]+", "_", "-".join([suite.name, *names]))
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
) -> Run:
    """The last side judged against the first, on the cases of `suite`; no baseline has a say.

    Args:
        sides: variants of the suite, prompt files (.md), `git:REV`, `git:REV:v3` or `git:REV:path.md`.
        suite: whose cases, models and policy to use.
        root: the checkout.
        options: which cases.
        jobs: worker processes; 1 runs in this one.
        fresh: run everything, also what is unchanged.
        progress: called once per trial, as they come.
        today: the day an opening of the holdout is counted under; that of the clock if not given.

    Raises:
        ConfigurationError: something names neither a variant, nor a prompt file, nor a prompt of a revision.
        CannotJudgeError: no case is selected, or all are held out.
    """
    context = loaded(_opposed(sides, suite, path_of_user(root, "root"), options), today, own_baseline=False)
    return decide(context, replay(context, jobs=jobs, fresh=fresh, progress=progress))


def _opposed(specs: Sequence[str], suite: str, root: Path, options: Options) -> RunContext:
    """The sides on the cases of `suite`: the first as reference, the last one judged."""
    workspace = Workspace.at(root, options.dataset)
    basis = read_suite(suite, root)
    sides = operands(specs, basis, workspace)
    chosen = selected(str(ad_hoc(sides, basis, workspace)), root, options)
    sources = {side.variant.name: side.source for side in sides}
    infos = [
        info.model_copy(update={"prompt_source": sources[info.variant.name] or info.prompt_source})
        for info in chosen.variants
    ]
    return replace(chosen, variants=infos)

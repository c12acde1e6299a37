"""Select for a comparison: variants, prompt files or revisions, made into a suite of their own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evals.pipeline.operands import ad_hoc, operands
from evals.pipeline.options import Options
from evals.pipeline.select import Selected, selected
from evals.suites.load import load_suite
from evals.workspace import Workspace


def opposed(specs: Sequence[str], suite: str, root: Path, options: Options) -> Selected:
    """The sides on the cases of `suite`: the first as reference, the last one judged.

    Raises:
        ConfigurationError: something names neither a variant, nor a prompt file, nor a prompt of a revision.
    """
    workspace = Workspace.at(root, options.dataset)
    basis = load_suite(suite)
    sides = operands(specs, basis, workspace)
    chosen = selected(str(ad_hoc(sides, basis, workspace)), root, options)
    sources = {side.variant.name: side.source for side in sides}
    infos = [
        info.model_copy(update={"prompt_source": sources[info.variant.name] or info.prompt_source})
        for info in chosen.variants
    ]
    return replace(chosen, variants=infos)

"""Have GEPA improve the router's prompt v2 of the project `support`, on recorded answers.

With OPENAI_BASE_URL the model there proposes and answers, for real.
"""

import os
import shutil
import tempfile
from pathlib import Path

import evals

SUPPORT = Path(__file__).parent / "support"


def fake(_texts: dict[str, str], examples: dict[str, list[dict[str, object]]], names: list[str]) -> dict[str, str]:
    """Stands in for a model: prints some of what a model would read, and proposes v1, whose answers are recorded."""
    for example in examples[names[0]][:1]:
        print(f"{example['Case']}: {example['Feedback']}")
    return dict.fromkeys(names, (SUPPORT / "prompts" / "router" / "v1.md").read_text(encoding="utf-8"))


if __name__ == "__main__":  # worker processes import this file again
    with tempfile.TemporaryDirectory() as folder:
        # In a copy, since new answers go to cassettes/, and looks at gate are counted in evaluation/gate_looks.yaml.
        project = Path(shutil.copytree(SUPPORT, Path(folder) / "support", ignore=shutil.ignore_patterns(".cache")))
        endpoint = os.environ.get("OPENAI_BASE_URL")
        found = evals.optimize(
            {"v2": project / "prompts" / "router" / "v2.md"},
            "router",
            project,
            propose=None if endpoint else fake,
            base_url=endpoint,
            proposals=3,
            batch=4,
        )
        print(found)
        if found.best and found.best.run:
            evals.write_report(found.best.run, Path(folder) / "report")
            print(found.best.run.verdict.sentence)

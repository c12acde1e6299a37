"""`evals cassette verify`: everything wrong with the committed cassettes, by file and line."""

import json
from collections.abc import Sequence
from pathlib import Path

from evals.cassette import verify as checks
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, CannotJudgeError, ConfigurationError
from evals.workspace import Workspace


def verify(root: Path, cases: Sequence[str] = (), *, as_json: bool = False, dataset: Path | None = None) -> int:
    """Print the findings, one per line or as JSON. Returns 0 if there are none, else 3.

    Raises:
        ConfigurationError: a case has no cassette.
        CannotJudgeError: nothing is recorded: that is not "all well".
    """
    workspace = Workspace.at(root, dataset)
    for case in cases:
        if not workspace.cassette(case).exists():
            raise ConfigurationError(f"{case}: no cassette of this case; `evals cassette status` lists them")
    found = checks.verify(workspace.cassettes, cases)
    if workspace.judge_cassettes.is_dir():
        said = checks.verify(workspace.judge_cassettes, cases)
        found = checks.Verified(
            found.cassettes + said.cassettes,
            found.interactions + said.interactions,
            (*found.findings, *said.findings),
        )
    if not found.cassettes and not found.findings:
        raise CannotJudgeError("cassettes/ holds no cassette, so there is nothing to verify; restore it or record")
    messages = [str(finding).replace(f"{workspace.root}/", "") for finding in found.findings]
    if as_json:
        counts = {"cassettes": found.cassettes, "interactions": found.interactions}
        print(json.dumps(counts | {"findings": messages}, indent=2, ensure_ascii=False))
    else:
        print("\n".join([*messages, _summary(found)]))
    return EXIT_CANNOT_JUDGE if found.findings else EXIT_OK


def _summary(found: checks.Verified) -> str:
    count = len(found.findings)
    said = f"{count} finding{'s' if count > 1 else ''}" if count else "no findings"
    return f"{found.cassettes} cassettes with {found.interactions} interactions: {said}"

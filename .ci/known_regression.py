"""Exit code 0 if the only regression in a stored run is the one that docs/findings.md explains.

Usage: python .ci/known_regression.py RUN.json

v5 skips reviews on released packages that v3 asks for, so `evals run released` is worse there, and is meant to be.
Exit codes: 0 not worse, or worse by that alone; 1 another regression; 3 the run could not be judged; 2 no run there.
"""

import json
import sys
from pathlib import Path

KNOWN = "v5 against v3: route.pass "


def main(path: Path) -> int:
    """The exit code for the run at `path`; prints each other regression."""
    try:
        verdict = json.loads(path.read_text(encoding="utf-8"))["verdict"]
    except (OSError, ValueError, KeyError) as error:
        print(f"{path}: holds no verdict ({error}); run `evals run released` first", file=sys.stderr)
        return 2
    if verdict["exit_code"] != 1:
        return int(verdict["exit_code"])
    regressions = [reason["text"] for reason in verdict["reasons"] if reason["kind"] == "regression"]
    others = [text for text in regressions if not text.startswith(KNOWN)]
    for text in others:
        print(f"unknown regression: {text}", file=sys.stderr)
    return int(bool(others or not regressions))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

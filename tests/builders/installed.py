"""The wheel, built, and installed as a stranger installs it: into a virtual environment outside of the checkout.

`VERSIONS=lowest` or `VERSIONS=newest` installs what it needs from a package index. Without it nothing is downloaded:
the distributions that it needs are linked from the environment that runs the tests, and no other can be imported.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
VERSIONS = os.environ.get("VERSIONS", "")
CORE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
OF_EXAMPLES = sorted(
    {line for file in ROOT.glob("docs/examples/*/requirements.txt") for line in file.read_text("utf-8").splitlines()}
)


def tracked() -> list[Path]:
    """Paths that git tracks below both packages."""
    listed = subprocess.check_output(["git", "ls-files", "evals", "triage"], cwd=ROOT, text=True)
    return [Path(line) for line in listed.splitlines() if (ROOT / line).exists()]


def built_wheel(folder: Path) -> Path:
    """The wheel, built from a copy, since setuptools leaves a folder `build` where it builds."""
    copy, out = folder / "copy", folder / "dist"
    for path in [*tracked(), *map(Path, ("pyproject.toml", "README.md", "LICENSE"))]:
        (copy / path.parent).mkdir(parents=True, exist_ok=True)
        (copy / path).write_bytes((ROOT / path).read_bytes())
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel"]
    how = ["--no-deps", "--no-build-isolation", "--wheel-dir", out]
    subprocess.run([*command, *how, copy], check=True, timeout=300)
    (built,) = out.glob("*.whl")
    return built


def installed(folder: Path, wheel: Path, *others: str) -> Path:
    """The folder `bin` of a virtual environment with the wheel, all it needs, and other requirements."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=300)
    python = folder / "bin" / "python"
    if VERSIONS:
        strategy = {"lowest": "lowest-direct", "newest": "highest"}[VERSIONS]
        env = {"UV_SYSTEM_CERTS": "1", **os.environ}
        command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python]
        subprocess.run([*command, "--resolution", strategy, wheel, *CORE, *others], check=True, timeout=600, env=env)
    else:
        (place,) = folder.glob("lib/python*/site-packages")
        for top in sorted(_needed([*CORE, *others])):
            (place / top.name).symlink_to(top)
        command = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "install",
            "--quiet",
            "--python",
            python,
            "--no-deps",
            "--offline",
        ]
        subprocess.run([*command, wheel], check=True, timeout=300)
    return folder / "bin"


def _needed(requirements: Sequence[str]) -> set[Path]:
    """Folders and files in `site-packages` of the distributions that these requirements name, and of all they need."""
    asked, done, found = list(requirements), set[tuple[str, str]](), set[Path]()
    while asked:
        requirement = Requirement(asked.pop())
        for extra in (*requirement.extras, ""):
            name = re.sub(r"[-_.]+", "-", requirement.name).lower()
            if (name, extra) in done:
                continue
            done.add((name, extra))
            try:
                one = distribution(name)
            except PackageNotFoundError:  # of another system or Python
                continue
            found |= {Path(one.locate_file(top)) for top in _tops(one.files or ())}
            asked += [
                each
                for each in one.requires or ()
                if (marker := Requirement(each).marker) is None or marker.evaluate({"extra": extra})
            ]
    return found


def _tops(files: Sequence[Path]) -> Iterator[str]:
    return (name for name in {file.parts[0] for file in files} if name not in {"..", "__pycache__"})

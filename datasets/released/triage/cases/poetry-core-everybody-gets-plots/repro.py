"""What belongs to an extra belongs to it with the index it comes from named, too."""

import tempfile
from pathlib import Path

from poetry.core.factory import Factory

PYPROJECT = """
[project]
name = "kiln"
version = "1.0"
dependencies = ["idna"]

[project.optional-dependencies]
plots = ["seaborn (>=0.13)"]

[tool.poetry]
packages = []

[tool.poetry.dependencies]
seaborn = { source = "mirror" }
"""

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "pyproject.toml").write_text(PYPROJECT)
    package = Factory().create_poetry(Path(folder)).package

locked = {one.name: (one.is_optional(), list(one.in_extras)) for one in package.all_requires}
assert locked == {"idna": (False, []), "seaborn": (True, ["plots"])}, locked

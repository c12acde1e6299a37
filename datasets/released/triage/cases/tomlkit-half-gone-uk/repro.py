"""A table that is written in two places goes, or is set, in both."""

import tomlkit

TEXT = """\
[tool.ours]
name = "x"

[project]
version = "1"

[tool.black]
line-length = 100

[tool.ours.paths]
root = "src"
"""

document = tomlkit.parse(TEXT)
del document["tool"]["ours"]
left = tomlkit.dumps(document)
assert "ours" not in left and "[tool.black]" in left, left

document = tomlkit.parse(TEXT)
document["tool"]["ours"] = {"name": "y"}
assert tomlkit.parse(tomlkit.dumps(document))["tool"]["ours"] == {"name": "y"}

"""A template is compiled to the same code in every process, whatever its hash seed."""

import sys
import types

# markupsafe cannot be had in pure Python; nothing here escapes, so names that stand in for it will do
stand_in = types.ModuleType("markupsafe")
stand_in.Markup = type("Markup", (str,), {})
stand_in.escape = stand_in.soft_str = str
sys.modules["markupsafe"] = stand_in

from jinja2 import Environment  # noqa: E402

source = Environment().compile("{% set height, width = size %}", raw=True)
written = next(line for line in source.splitlines() if "vars.update({" in line)
assert written.index("'height'") < written.index("'width'"), written

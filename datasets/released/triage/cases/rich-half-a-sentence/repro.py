"""A cell of a table in Markdown shows all of its text, not the last piece of it."""

import io

from rich.console import Console
from rich.markdown import Markdown

TEXT = """
| flag | meaning |
|------|---------|
| `-q` | say **nothing** but errors |
"""

out = io.StringIO()
Console(file=out, width=60, color_system=None).print(Markdown(TEXT))
assert "say nothing but errors" in out.getvalue(), out.getvalue()

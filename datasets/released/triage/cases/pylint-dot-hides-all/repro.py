"""A pattern for hidden files does not hide the folder that was asked for."""

import io
import os
import tempfile
from pathlib import Path

os.chdir(tempfile.mkdtemp())
os.environ["PYLINTHOME"] = os.getcwd()

from pylint.lint import Run  # noqa: E402
from pylint.reporters.text import TextReporter  # noqa: E402

Path("__init__.py").write_text("")
Path("views.py").write_text("import os\n")
Path(".#views.py").write_text("import sys\n")
written = io.StringIO()
options = ["--disable=all", "--enable=unused-import", r"--ignore-patterns=^\."]
Run([*options, "."], reporter=TextReporter(written), exit=False)

assert "Unused import os" in written.getvalue(), written.getvalue()
assert "Unused import sys" not in written.getvalue(), written.getvalue()

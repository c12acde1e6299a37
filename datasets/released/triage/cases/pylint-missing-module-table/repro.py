"""The report says which share of the messages each module has."""

import io
import os
import tempfile
from pathlib import Path

os.chdir(tempfile.mkdtemp())
os.environ["PYLINTHOME"] = os.getcwd()

from pylint.lint import Run  # noqa: E402
from pylint.reporters.text import TextReporter  # noqa: E402

Path("shame.py").write_text("import os\nX = 1\n")
written = io.StringIO()
Run(["--disable=all", "--enable=unused-import", "-ry", "shame.py"], reporter=TextReporter(written), exit=False)

rows = [line for line in written.getvalue().splitlines() if line.startswith("|shame ")]
assert len(rows) == 1 and "100.00" in rows[0], written.getvalue()

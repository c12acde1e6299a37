"""What is None or unknown is not called a wrong operand."""

import io
import os
import tempfile
from pathlib import Path

os.chdir(tempfile.mkdtemp())
os.environ["PYLINTHOME"] = os.getcwd()

from pylint.lint import Run  # noqa: E402
from pylint.reporters.text import TextReporter  # noqa: E402

Path("link.py").write_text(
    "class Link:\n"
    "    def __init__(self, options):\n"
    "        self.patience = None\n"
    "        if options:\n"
    "            self.patience = options.patience\n"
    "\n"
    "    def backwards(self):\n"
    "        return -self.patience\n"
)
written = io.StringIO()
Run(["--disable=all", "--enable=E", "link.py"], reporter=TextReporter(written), exit=False)

assert "E1130" not in written.getvalue(), written.getvalue()

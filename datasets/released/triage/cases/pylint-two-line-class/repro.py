"""Slots that are added to nothing are a finding in the file, not the end of the run."""

import io
import os
import tempfile
from pathlib import Path

os.chdir(tempfile.mkdtemp())
os.environ["PYLINTHOME"] = os.getcwd()

from pylint.lint import Run  # noqa: E402
from pylint.reporters.text import TextReporter  # noqa: E402

Path("sensors.py").write_text(
    "class Reading:\n"
    "    __slots__ = ('value', 'unit')\n"
    "\n"
    "class Dated(Reading):\n"
    "    __slots__ += ('day',)\n"
)
written = io.StringIO()
Run(["--disable=all", "--enable=E,F", "sensors.py"], reporter=TextReporter(written), exit=False)

assert "astroid-error" not in written.getvalue(), written.getvalue()
assert "undefined-variable" in written.getvalue(), written.getvalue()

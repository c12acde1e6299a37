"""Of modules with one name, that in the folder of the earlier argument is found, in each run."""

import io
import os
import tempfile
from pathlib import Path

os.chdir(tempfile.mkdtemp())
os.environ["PYLINTHOME"] = os.getcwd()

from pylint.lint import Run  # noqa: E402
from pylint.reporters.text import TextReporter  # noqa: E402

FOLDERS = 9  # the one right order of so many does not come about by chance

for n in range(FOLDERS):
    folder = Path(f"service_{n}")
    folder.mkdir()
    (folder / f"app_{n}.py").write_text(f"from shared_{n} import named_here\n")
    (folder / f"shared_{n}.py").write_text("def named_here():\n    pass\n")
    (folder / f"shared_{n - 1}.py").write_text("")
written = io.StringIO()
apps = [f"service_{n}/app_{n}.py" for n in range(FOLDERS)]
Run(["--disable=all", "--enable=no-name-in-module", *apps], reporter=TextReporter(written), exit=False)

assert "no-name-in-module" not in written.getvalue(), written.getvalue()

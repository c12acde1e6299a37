"""A package is checked from inside its own folder, too."""

import io
import os
import tempfile
from pathlib import Path

os.chdir(tempfile.mkdtemp())
os.environ["PYLINTHOME"] = os.getcwd()

from pylint.lint import Run  # noqa: E402
from pylint.reporters.text import TextReporter  # noqa: E402

package = Path("kiln")
(package / "firing").mkdir(parents=True)
for name in ("__init__.py", "firing/__init__.py"):
    (package / name).write_text("")
for name in ("glaze.py", "firing/cone.py"):
    (package / name).write_text("import os\n")
os.chdir(package)
written = io.StringIO()
Run(["--disable=all", "--enable=unused-import", "."], reporter=TextReporter(written), exit=False)

assert written.getvalue().count("Unused import os") == 2, written.getvalue()

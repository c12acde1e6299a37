"""An attribute is renamed where an f-string reads it, too."""

import tempfile

from rope.base.project import Project
from rope.refactor.rename import Rename

SOURCE = """\
class Invoice:
    def __init__(self, total):
        self.total = total

    def late(self):
        return f"still open: {self.total:>10}"


print(f"{Invoice(3).total}", Invoice(3).total)
"""

with tempfile.TemporaryDirectory() as folder:
    project = Project(folder, ropefolder=None)
    module = project.root.create_file("invoices.py")
    module.write(SOURCE)
    changes = Rename(project, module, SOURCE.index("total =")).get_changes("amount")
    project.do(changes)
    renamed = module.read()
    project.close()

assert renamed == SOURCE.replace(".total", ".amount"), renamed

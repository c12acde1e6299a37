"""Suggestions can be asked for from any thread, on disk as in memory."""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from rope.base.project import Project
from rope.contrib.autoimport.sqlite import AutoImport

for memory in (False, True):
    with tempfile.TemporaryDirectory() as folder:
        project = Project(folder)
        module = project.root.create_file("zoo.py")
        module.write("class Zebra:\n    pass\n")
        imports = AutoImport(project, memory=memory)
        imports.generate_cache(resources=[module])
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(lambda: list(imports.search("Zebra"))).result()
        assert found == [("from zoo import Zebra", "Zebra")], found
        sys.stdout.flush()
        project.close()

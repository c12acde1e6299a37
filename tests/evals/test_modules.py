"""The loader of own modules: the source as it stands is executed, and remembered as what was executed."""

import hashlib
import json
import os
import subprocess
import sys

import pytest

from evals.paths import PACKAGE
from evals.source_loader import digest_of_code
from tests.builders.checkout import own_code

GOOD, BAD = "def word():\n    return 'good'\n", "def word():\n    return 'evil'\n"
TELL = """
import json, evals.probe
from evals.source_loader import executed
print(json.dumps([evals.probe.word(), executed()[evals.probe.__file__]]))
"""


def told(folder, **environment):
    """What a new process executes of the module, and the digest it knows of it."""
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1", **environment}
    return json.loads(subprocess.run([sys.executable, "-c", TELL], env=kept, capture_output=True, check=True).stdout)


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def probe(tmp_path):
    path = own_code(tmp_path) / "evals" / "probe.py"
    path.write_text(GOOD)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("compiled", ["by us", "by Python"])
def test_bytecode_of_another_source_of_equal_size_and_time_is_never_executed(probe, compiled):
    """As after `rsync -t`, from an archive, or in layers whose times are all the same."""
    if compiled == "by us":
        assert told(probe.parents[1]) == ["good", sha256(GOOD)]
    else:
        subprocess.run([sys.executable, "-m", "compileall", "-q", probe], check=True)
    assert list((probe.parent / "__pycache__").glob("probe.*.pyc"))
    probe.write_text(BAD)
    os.utime(probe, (1_000_000_000, 1_000_000_000))

    assert told(probe.parents[1]) == ["evil", sha256(BAD)]


@pytest.mark.slow
def test_bytecode_of_the_same_source_is_used_whatever_its_time(probe):
    assert told(probe.parents[1])[0] == "good"
    (compiled,) = (probe.parent / "__pycache__").glob("probe.*.pyc")
    before = compiled.stat().st_mtime_ns
    os.utime(probe)

    assert told(probe.parents[1]) == ["good", sha256(GOOD)]
    assert compiled.stat().st_mtime_ns == before


@pytest.mark.slow
def test_damaged_bytecode_is_made_again_and_none_is_kept_where_python_keeps_none(probe):
    assert told(probe.parents[1], PYTHONDONTWRITEBYTECODE="1")[0] == "good"
    assert not list((probe.parent / "__pycache__").glob("probe.*.pyc"))
    assert told(probe.parents[1])[0] == "good"
    (compiled,) = (probe.parent / "__pycache__").glob("probe.*.pyc")
    compiled.write_bytes(compiled.read_bytes()[:40])

    assert told(probe.parents[1])[0] == "good"


def test_the_digest_of_a_module_is_of_what_this_process_executes(tmp_path):
    """Of a file that nobody executes it is of what stands there."""
    (tmp_path / "other.py").write_text(GOOD)

    assert digest_of_code(tmp_path / "other.py") == sha256(GOOD)
    assert digest_of_code(PACKAGE / "source_loader.py") == sha256((PACKAGE / "source_loader.py").read_text())

"""What a test case holds on its instance is let go when the test is over, not when the whole run is."""

import os
import tempfile
from pathlib import Path

import pytest

TESTS = """
import unittest

class Frames:
    pass

MADE = []

class TestVideo(unittest.TestCase):
    def setUp(self):
        import weakref
        self.frames = Frames()
        MADE.append(weakref.ref(self.frames))

    def test_cut(self):
        pass

    def test_fade(self):
        pass

    def test_mix(self):
        pass

def test_memory():
    import gc
    gc.collect()
    assert len(MADE) == 3
    assert not [one for one in MADE if one() is not None], "frames of tests that are over"
"""

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "pytest.ini").write_text("[pytest]\n")
    Path(folder, "test_video.py").write_text(TESTS)
    os.chdir(folder)
    code = pytest.main(["-q", "-p", "no:cacheprovider", "test_video.py"])
    os.chdir("/")

assert code == 0, code

"""Settings."""

import tempfile
import unittest
from pathlib import Path

from taskmill.config import load_settings
from taskmill.errors import ConfigError


class Load(unittest.TestCase):
    def file(self, text: str) -> Path:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "taskmill.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def test_defaults(self) -> None:
        self.assertEqual(load_settings(environ={}).queues, ("default",))

    def test_file(self) -> None:
        settings = load_settings(self.file('[taskmill]\nqueues = ["a", "b"]\nlease_seconds = 30\n'), {})
        self.assertEqual((settings.queues, settings.lease_seconds), (("a", "b"), 30.0))

    def test_the_environment_wins(self) -> None:
        settings = load_settings(self.file('[taskmill]\nworker_name = "a"\n'), {"TASKMILL_WORKER_NAME": "b"})
        self.assertEqual(settings.worker_name, "b")

    def test_other_variables_are_left_alone(self) -> None:
        self.assertEqual(load_settings(environ={"TASKMILL_HOME": "x", "HOME": "y"}), load_settings(environ={}))

    def test_bad_values(self) -> None:
        for text in ("lease_seconds = 0", 'max_attempts = "many"', "queues = []", "colour = 1"):
            with self.subTest(text), self.assertRaises(ConfigError):
                load_settings(self.file(f"[taskmill]\n{text}\n"), {})

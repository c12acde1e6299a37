"""Serialisation, retry policy, registry, metrics, command line."""

import contextlib
import io
import random
import tempfile
import unittest
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

from taskmill import cli
from taskmill.errors import ConfigError, PayloadError, RetryJob, UnknownTaskError
from taskmill.metrics import Histogram, Metrics
from taskmill.registry import Registry, Task, import_tasks
from taskmill.retry import RetryPolicy
from taskmill.serialization import dump_arguments, load_arguments


class Serialization(unittest.TestCase):
    def test_round_trip(self) -> None:
        moment = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone.utc)
        kwargs = {"m": moment, "d": date(2026, 1, 2), "t": timedelta(1, 2, 3), "x": Decimal("1.10"), "b": b"\x00"}
        self.assertEqual(load_arguments(dump_arguments((1, [None]), kwargs)), ((1, [None]), kwargs))

    def test_refused(self) -> None:
        for value in (object(), float("nan"), "x" * 300_000):
            with self.subTest(type(value)), self.assertRaises(PayloadError):
                dump_arguments((value,), {})
        with self.assertRaises(PayloadError):
            load_arguments('{"args": []}')


class Retry(unittest.TestCase):
    def test_ceiling(self) -> None:
        policy = RetryPolicy(base=5, factor=2, maximum=60)
        self.assertEqual([policy.ceiling(n) for n in (1, 2, 4, 5, 500)], [5, 10, 40, 60, 60])

    def test_jitter_stays_in_the_upper_half(self) -> None:
        rng = random.Random(1)
        delays = [RetryPolicy().delay(1, ValueError(), rng) for _ in range(50)]
        self.assertTrue(all(2.5 <= delay <= 5 for delay in delays))
        self.assertEqual(RetryPolicy().delay(1, RetryJob(delay=0), rng), 0)


class Tasks(unittest.TestCase):
    def test_registry(self) -> None:
        registry = Registry()
        registry.add(Task("a", print))
        with self.assertRaises(ConfigError):
            registry.add(Task("a", repr))
        with self.assertRaises(UnknownTaskError):
            registry.get("b")
        with self.assertRaises(ConfigError):
            import_tasks(["no_such_module_here"])


class Measuring(unittest.TestCase):
    def test_render(self) -> None:
        metrics = Metrics()
        metrics.count("jobs_done", task="a")
        metrics.observe("job_seconds", 0.25)
        lines = ["taskmill_job_seconds_count 1", "taskmill_job_seconds_sum 0.250000", 'taskmill_jobs_done{task="a"} 1']
        self.assertEqual(metrics.render().splitlines(), lines)

    def test_quantile(self) -> None:
        histogram = Histogram()
        for seconds in (0.02, 0.02, 0.7):
            histogram.observe(seconds)
        self.assertEqual((histogram.quantile(0.5), histogram.quantile(1.0)), (0.05, 1.0))


class CommandLine(unittest.TestCase):
    def run_cli(self, *argv: str) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = cli.main(argv)
        return code, out.getvalue()

    def test_enqueue_and_status(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder) / "taskmill.toml"
            config.write_text(f"[taskmill]\ndatabase = '{folder}/jobs.db'\nlog_level = 'error'\n", encoding="utf-8")
            code, text = self.run_cli("--config", str(config), "enqueue", "mail.digest", "--queue", "mail")
            self.assertEqual((code, text), (0, "job 1 queued in queue mail\n"))
            self.assertIn("queued", self.run_cli("--config", str(config), "status")[1])
            self.assertEqual(self.run_cli("--config", str(config), "cancel", "9"), (2, "taskmill: no job 9\n"))

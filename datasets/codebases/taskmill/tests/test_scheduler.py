"""Recurring jobs."""

import logging
import unittest

from taskmill.cron import CronSchedule
from taskmill.errors import ConfigError
from taskmill.scheduler import Misfire, Recurring, Scheduler, read_entries, zone
from tests.fixtures import Mill


class SchedulerTest(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        self.mill = Mill()
        self.addCleanup(self.mill.close)

    def scheduler(self, misfire: Misfire = "once", tz: str = "UTC") -> Scheduler:
        entry = Recurring("hourly", "note", CronSchedule.parse("0 * * * *"), {"n": 1}, misfire=misfire)
        scheduler = Scheduler([entry], self.mill.queue, self.mill.store, self.mill.clock, tz=zone(tz))
        scheduler.tick()
        return scheduler

    def test_nothing_fires_before_its_time(self) -> None:
        self.assertEqual(self.scheduler().tick(), [])

    def test_a_due_entry_is_queued_once(self) -> None:
        scheduler = self.scheduler()
        self.mill.clock.advance(3600)
        jobs = scheduler.tick()
        self.assertEqual([(job.task, job.kwargs) for job in jobs], [("note", {"n": 1})])
        self.assertEqual(scheduler.tick(), [])

    def test_two_schedulers_fire_once(self) -> None:
        first, second = self.scheduler(), self.scheduler()
        self.mill.clock.advance(3600)
        self.assertEqual(len(first.tick()) + len(second.tick()), 1)

    def test_missed_runs(self) -> None:
        for misfire, expected in (("once", 1), ("all", 3), ("skip", 0)):
            with self.subTest(misfire):
                self.setUp()
                scheduler = self.scheduler(misfire)
                self.mill.clock.advance(3 * 3600)
                self.assertEqual(len(scheduler.tick()), expected)

    def test_bad_entries(self) -> None:
        with self.assertRaises(ConfigError):
            read_entries([{"name": "x", "task": "t"}])
        with self.assertRaises(ConfigError):
            zone("Mars/Olympus")

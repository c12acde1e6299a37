"""A job's life: queue, lease, attempt, retry, end."""

import logging
import unittest
from typing import NoReturn

from taskmill.errors import AbortJob, InvalidTransitionError, LeaseLostError, RetryJob
from taskmill.jobs import JobState
from taskmill.registry import Task
from tests.fixtures import Mill


class JobsTest(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        self.mill = Mill()
        self.addCleanup(self.mill.close)
        self.runs: list[str] = []
        self.mill.registry.add(Task("note", self.runs.append))

    def state(self, job_id: int) -> JobState:
        return self.mill.queue.get(job_id).state

    def fail_with(self, error: Exception) -> int:
        def task() -> NoReturn:
            raise error

        self.mill.registry.add(Task("fail", task, max_attempts=2))
        return self.mill.queue.enqueue("fail").id


class Queueing(JobsTest):
    def test_a_job_runs_once(self) -> None:
        job = self.mill.queue.enqueue("note", "a")
        self.assertEqual([self.mill.worker.run_once(), self.mill.worker.run_once()], [True, False])
        self.assertEqual((self.runs, self.state(job.id)), (["a"], JobState.DONE))

    def test_priority_then_age(self) -> None:
        for name, priority in (("late", 100), ("later", 100), ("first", 1)):
            self.mill.queue.enqueue("note", name, priority=priority)
        while self.mill.worker.run_once():
            pass
        self.assertEqual(self.runs, ["first", "late", "later"])

    def test_a_delayed_job_waits(self) -> None:
        self.mill.queue.enqueue("note", "a", delay=30)
        self.assertFalse(self.mill.worker.run_once())
        self.mill.clock.advance(30)
        self.assertTrue(self.mill.worker.run_once())

    def test_other_queues_are_left_alone(self) -> None:
        self.mill.queue.enqueue("note", "a", queue="reports")
        self.assertFalse(self.mill.worker.run_once())

    def test_a_key_in_use_is_not_queued_twice(self) -> None:
        first = self.mill.queue.enqueue("note", "a", unique_key="k")
        self.assertEqual(self.mill.queue.enqueue("note", "b", unique_key="k").id, first.id)
        self.assertEqual(self.mill.metrics.value("jobs_deduplicated", task="note"), 1)

    def test_a_cancelled_job_does_not_run(self) -> None:
        job = self.mill.queue.enqueue("note", "a")
        self.mill.queue.cancel(job.id)
        self.assertFalse(self.mill.worker.run_once())
        with self.assertRaises(InvalidTransitionError):
            self.mill.queue.cancel(job.id)


class Failing(JobsTest):
    def test_a_failure_is_retried_after_the_delay(self) -> None:
        job_id = self.fail_with(ValueError("no"))
        self.mill.worker.run_once()
        self.assertEqual(self.state(job_id), JobState.RETRYING)
        self.assertFalse(self.mill.worker.run_once())
        self.mill.clock.advance(5)
        self.mill.worker.run_once()
        self.assertEqual(self.state(job_id), JobState.DEAD)

    def test_a_task_may_choose_its_delay(self) -> None:
        job_id = self.fail_with(RetryJob("busy", delay=90))
        self.mill.worker.run_once()
        self.assertEqual((self.mill.queue.get(job_id).run_at - self.mill.clock.now()).total_seconds(), 90)

    def test_an_aborted_job_is_dead_and_can_be_revived(self) -> None:
        job_id = self.fail_with(AbortJob("never"))
        self.mill.worker.run_once()
        self.assertEqual(self.state(job_id), JobState.DEAD)
        self.assertEqual(self.mill.queue.revive(job_id).attempts, 0)

    def test_an_unknown_task_is_dead_at_once(self) -> None:
        job = self.mill.queue.enqueue("nobody.knows")
        self.mill.worker.run_once()
        self.assertEqual(self.state(job.id), JobState.DEAD)


class Leasing(JobsTest):
    def test_a_leased_job_is_not_given_out_again(self) -> None:
        self.mill.queue.enqueue("note", "a")
        self.assertIsNotNone(self.mill.leases.acquire("w1", ("default",)))
        self.assertIsNone(self.mill.leases.acquire("w2", ("default",)))

    def test_an_expired_lease_is_taken_back(self) -> None:
        job = self.mill.queue.enqueue("note", "a")
        lost = self.mill.leases.acquire("w1", ("default",))
        assert lost is not None
        self.mill.clock.advance(61)
        self.assertEqual(self.mill.worker.reap(), [job.id])
        with self.assertRaises(LeaseLostError):
            self.mill.leases.finish(lost, JobState.DONE)

    def test_a_renewed_lease_is_kept(self) -> None:
        self.mill.queue.enqueue("note", "a")
        lease = self.mill.leases.acquire("w1", ("default",))
        assert lease is not None
        self.mill.clock.advance(50)
        self.mill.leases.renew(lease)
        self.mill.clock.advance(50)
        self.assertEqual(self.mill.worker.reap(), [])

    def test_a_job_without_attempts_left_is_buried(self) -> None:
        job = self.mill.queue.enqueue("note", "a")
        for _ in range(job.max_attempts):
            self.mill.leases.acquire("w1", ("default",))
            self.mill.clock.advance(61)
            self.mill.worker.reap()
        self.assertEqual(self.state(job.id), JobState.DEAD)

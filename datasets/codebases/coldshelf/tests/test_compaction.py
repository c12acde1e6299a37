"""Compaction gives space back and changes nothing else."""

import unittest

from coldshelf.compaction import Compactor, Outcome
from coldshelf.metrics import Metrics
from support import ShelfTest


class CompactionTest(ShelfTest):
    def setUp(self):
        super().setUp()
        self.disk = self.store(segment_size=200)
        self.metrics = Metrics()
        self.compactor = Compactor(self.disk, self.metrics, below=0.5, name="test")

    def overwrite(self, times=40):
        for number in range(times):
            self.disk.put(f"k{number % 4}", f"value {number}".encode())
        self.disk.roll()

    def test_nothing_is_due_while_everything_is_alive(self):
        self.disk.put("a", b"x" * 300)
        self.disk.roll()

        self.assertFalse(self.compactor.due())
        self.assertEqual(self.compactor.run(), Outcome())

    def test_overwritten_entries_are_dropped(self):
        self.overwrite()
        self.assertTrue(self.compactor.due())
        outcome = self.compactor.run()

        self.assertGreater(outcome.dropped, 30)
        self.assertEqual(self.metrics.value("compacted_bytes", namespace="test"), outcome.freed_bytes)
        self.assertFalse(self.compactor.due())

    def test_values_survive_compaction_and_reopening(self):
        self.overwrite()
        self.compactor.run()
        expected = [f"value {number}".encode() for number in (36, 37, 38, 39)]
        self.assertEqual([self.disk.get(f"k{number}").value for number in range(4)], expected)
        self.disk.close()
        again = self.store()

        self.assertEqual([again.get(f"k{number}").value for number in range(4)], expected)

    def test_deleted_entries_leave_nothing_behind(self):
        self.overwrite()
        for number in range(4):
            self.disk.delete(f"k{number}")
        self.disk.roll()
        self.compactor.run()

        self.assertEqual(len(self.disk), 0)
        self.assertLess(sum(segment.size for segment in self.disk.sealed()), 200)

    def test_writes_during_a_copy_win(self):
        self.overwrite()
        scan = type(self.disk.sealed()[0]).scan
        disk = self.disk

        def scan_and_write(segment):
            yield from scan(segment)
            disk.put("k0", b"meanwhile")

        self.addCleanup(setattr, type(self.disk.sealed()[0]), "scan", scan)
        type(self.disk.sealed()[0]).scan = scan_and_write
        self.compactor.run()

        self.assertEqual(self.disk.get("k0").value, b"meanwhile")

    def test_compaction_stands_back_while_a_snapshot_is_made(self):
        self.overwrite()
        with self.disk.maintenance:
            self.assertEqual(self.compactor.run(), Outcome())


if __name__ == "__main__":
    unittest.main()

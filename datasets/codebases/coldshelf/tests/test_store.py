"""Segments, index and recovery."""

import unittest

from coldshelf.errors import CorruptRecord, EntryTooLarge, InvalidRequest, ShelfClosed
from coldshelf.index import Index, Location
from support import START, ShelfTest


class StoreTest(ShelfTest):
    def test_what_was_put_is_read_back(self):
        store = self.store()
        store.put("a", b"one")

        self.assertEqual(store.get("a").value, b"one")

    def test_the_newer_of_two_writes_wins(self):
        store = self.store()
        store.put("a", b"one")
        store.put("a", b"two")

        self.assertEqual((store.get("a").value, len(store)), (b"two", 1))

    def test_a_deleted_entry_is_gone_after_reopening(self):
        store = self.store()
        store.put("a", b"one")
        store.put("b", b"two")
        self.assertTrue(store.delete("a"))
        store.close()

        self.assertIsNone(self.store().get("a"))

    def test_deleting_nothing_says_so(self):
        self.assertFalse(self.store().delete("a"))

    def test_everything_is_found_after_reopening(self):
        store = self.store(segment_size=100)
        for number in range(20):
            store.put(f"k{number:02d}", bytes([number]))
        store.close()
        again = self.store(segment_size=100)

        self.assertEqual([again.get(f"k{number:02d}").value for number in range(20)], [bytes([n]) for n in range(20)])
        self.assertGreater(len(again.sealed()), 3)

    def test_sequence_numbers_go_on_after_reopening(self):
        store = self.store()
        first = store.put("a", b"one")
        store.close()

        self.assertEqual(self.store().put("a", b"two"), first + 1)

    def test_a_torn_end_is_cut_off(self):
        store = self.store()
        store.put("a", b"one")
        store.put("b", b"two")
        path = sorted(store.folder.iterdir())[0]
        store.close()
        path.write_bytes(path.read_bytes()[:-2])
        with self.assertLogs("coldshelf.segment", "WARNING"):
            again = self.store()

        self.assertEqual((again.get("a").value, again.get("b")), (b"one", None))

    def test_a_changed_byte_is_noticed(self):
        store = self.store()
        store.put("a", b"one")
        path = sorted(store.folder.iterdir())[0]
        path.write_bytes(path.read_bytes()[:-1] + b"x")

        with self.assertRaises(CorruptRecord):
            store.get("a")

    def test_expired_entries_are_not_returned_and_then_swept(self):
        store = self.store()
        store.put("a", b"one", START + 10)
        store.put("b", b"two", START + 30)
        self.clock.advance(20)

        self.assertIsNone(store.get("a"))
        self.assertEqual(store.sweep(), ["a"])
        self.assertEqual(store.keys(), ["b"])

    def test_a_prolonged_entry_is_not_swept(self):
        store = self.store()
        store.put("a", b"one", START + 10)
        store.put("a", b"one", START + 100)
        self.clock.advance(20)

        self.assertEqual(store.sweep(), [])

    def test_bad_keys_and_values_are_refused(self):
        store = self.store()
        with self.assertRaises(InvalidRequest):
            store.put("", b"")
        with self.assertRaises(EntryTooLarge):
            store.put("a", b"x" * 1001)

    def test_a_closed_store_says_so(self):
        store = self.store()
        store.close()
        with self.assertRaises(ShelfClosed):
            store.put("a", b"one")


class PageTest(ShelfTest):
    def test_pages_follow_each_other(self):
        store = self.store()
        for key in ("b/2", "a/1", "b/1", "b/3", "c"):
            store.put(key, b"")

        self.assertEqual(store.keys("b/", None, 2), ["b/1", "b/2"])
        self.assertEqual(store.keys("b/", "b/2", 2), ["b/3"])


class IndexTest(unittest.TestCase):
    def test_live_bytes_follow_the_entries(self):
        index = Index()
        index.put("a", Location(1, 0, 40, 1))
        index.put("b", Location(1, 40, 50, 2))
        index.put("a", Location(2, 0, 30, 3))
        index.remove("b")

        self.assertEqual((index.live_bytes(1), index.live_bytes(2)), (0, 30))

    def test_a_key_that_moved_on_is_not_relocated(self):
        index = Index()
        old, new, copy = Location(1, 0, 40, 1), Location(2, 0, 30, 2), Location(3, 0, 40, 1)
        index.put("a", new)

        self.assertFalse(index.relocate("a", old, copy))
        self.assertEqual(index.get("a"), new)


if __name__ == "__main__":
    unittest.main()

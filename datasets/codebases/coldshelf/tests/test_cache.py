"""The read cache on its own."""

import unittest

from coldshelf.cache import ReadCache
from coldshelf.clock import ManualClock


class CacheTest(unittest.TestCase):
    def setUp(self):
        self.clock = ManualClock(1000)
        self.cache = ReadCache(self.clock, entries=2, ttl=60)

    def fill(self, key, value, **options):
        return self.cache.fill(key, value, self.cache.stamp(key), **options)

    def test_a_value_is_served_until_its_time_is_over(self):
        self.fill("a", b"one")
        self.assertEqual(self.cache.get("a"), b"one")
        self.clock.advance(60)

        self.assertIsNone(self.cache.get("a"))
        self.assertEqual((self.cache.hits, self.cache.misses), (1, 1))

    def test_an_entry_that_expires_sooner_is_not_kept_longer(self):
        self.fill("a", b"one", expires_at=1010)
        self.clock.advance(10)

        self.assertIsNone(self.cache.get("a"))

    def test_the_least_recently_used_goes_first(self):
        self.fill("a", b"one")
        self.fill("b", b"two")
        self.cache.get("a")
        self.fill("c", b"three")

        self.assertEqual((self.cache.get("a"), self.cache.get("b")), (b"one", None))

    def test_a_value_loaded_before_an_invalidation_is_refused(self):
        stamp = self.cache.stamp("a")
        self.cache.invalidate("a")

        self.assertFalse(self.cache.fill("a", b"old", stamp))
        self.assertEqual(len(self.cache), 0)

    def test_a_cache_without_entries_keeps_nothing(self):
        cache = ReadCache(self.clock, entries=0, ttl=60)

        self.assertFalse(cache.fill("a", b"one", cache.stamp("a")))


if __name__ == "__main__":
    unittest.main()

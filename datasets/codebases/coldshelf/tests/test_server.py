"""The facade, from request to answer."""

import unittest

from coldshelf.errors import InvalidRequest
from coldshelf.server import Request
from support import ShelfTest


class ServerTest(ShelfTest):
    def setUp(self):
        super().setUp()
        self.shelf = self.server("docs:admin", "plans:read", cache_ttl=60.0)
        self.shelf.call("create", "docs")

    def test_put_get_delete(self):
        self.assertEqual(self.shelf.call("put", "docs", "a", b"one").status, 201)
        self.assertEqual(self.shelf.call("get", "docs", "a").value, b"one")
        self.assertEqual(self.shelf.call("delete", "docs", "a").status, 204)
        self.assertEqual(self.shelf.call("get", "docs", "a").status, 404)

    def test_a_cached_value_is_replaced_by_a_write(self):
        self.shelf.call("put", "docs", "a", b"one")
        self.shelf.call("get", "docs", "a")
        self.shelf.call("put", "docs", "a", b"two")

        self.assertEqual(self.shelf.call("get", "docs", "a").value, b"two")

    def test_a_second_read_comes_from_the_cache(self):
        self.shelf.call("put", "docs", "a", b"one")
        self.shelf.call("get", "docs", "a")
        self.shelf.call("get", "docs", "a")

        self.assertEqual(self.shelf.call("stats", "docs").data["cache_hits"], 1)

    def test_entries_live_as_long_as_asked(self):
        self.shelf.call("put", "docs", "a", b"one", ttl="30s")
        self.shelf.call("get", "docs", "a")
        self.clock.advance(30)

        self.assertEqual(self.shelf.call("get", "docs", "a").status, 404)

    def test_housekeeping_sweeps_and_compacts(self):
        for number in range(60):
            self.shelf.call("put", "docs", f"k{number % 3}", b"x" * 20, ttl=30)
        self.clock.advance(30)
        self.shelf.server.tick()

        self.assertEqual(self.shelf.call("list", "docs").data["keys"], [])
        self.assertGreater(self.shelf.server.metrics.value("compactions", namespace="docs"), 0)

    def test_listings_are_paged(self):
        for key in ("a", "b", "c"):
            self.shelf.call("put", "docs", key, b"")
        first = self.shelf.call("list", "docs", limit=2).data

        self.assertEqual(first, {"keys": ["a", "b"], "after": "b"})
        self.assertEqual(self.shelf.call("list", "docs", after="b", limit=2).data, {"keys": ["c"], "after": None})

    def test_access_is_checked(self):
        self.assertEqual(self.shelf.call("put", "plans", "a", b"").data["error"], "denied")
        self.assertEqual(self.shelf.call("get", "salaries", "a").status, 403)
        self.assertEqual(self.shelf.server.handle(Request("get", "docs", "wrong", "a")).status, 403)

    def test_an_expired_token_is_refused(self):
        self.clock.advance(3600)

        self.assertEqual(self.shelf.call("get", "docs", "a").status, 403)

    def test_bad_requests_are_told_apart(self):
        self.assertEqual(self.shelf.call("put", "docs", "a", b"", ttl="soon").status, 400)
        self.assertEqual(self.shelf.call("list", "docs", limit=0).status, 400)
        self.assertEqual(self.shelf.call("shout", "docs").status, 400)
        self.assertEqual(self.shelf.call("get", "plans", "a").status, 404)

    def test_metrics_are_rendered(self):
        self.shelf.call("get", "docs", "a")

        self.assertIn('coldshelf_requests{operation="get",status="404"} 1', self.shelf.server.metrics.render())


class NameTest(ShelfTest):
    def test_names_that_would_leave_the_folder_are_refused(self):
        namespaces = self.namespaces()
        for name in ("", "..", "a/b", "a..b", "Docs", "a\n", "x" * 101):
            with self.assertRaises(InvalidRequest):
                namespaces.create(name)

    def test_only_folders_that_are_namespaces_are_listed(self):
        namespaces = self.namespaces()
        namespaces.create("docs.old")
        (self.folder / "data" / ".docs.restoring").mkdir()

        self.assertEqual(namespaces.names(), ["docs.old"])


class SnapshotTest(ShelfTest):
    def setUp(self):
        super().setUp()
        self.shelf = self.server("docs:admin")
        self.shelf.call("create", "docs")
        self.shelf.call("put", "docs", "a", b"one")

    def snapshot(self):
        return self.shelf.call("snapshot", "docs").data["snapshot"]

    def test_a_snapshot_is_restored(self):
        name = self.snapshot()
        self.shelf.call("put", "docs", "a", b"two")
        self.shelf.call("get", "docs", "a")

        self.assertEqual(self.shelf.call("restore", "docs", name).data, {"entries": 1})
        self.assertEqual(self.shelf.call("get", "docs", "a").value, b"one")

    def test_a_damaged_snapshot_is_refused_and_nothing_is_lost(self):
        name = self.snapshot()
        path = next((self.folder / "snapshots" / "docs" / name).glob("*.seg"))
        path.write_bytes(path.read_bytes()[:-1])

        self.assertEqual(self.shelf.call("restore", "docs", name).status, 409)
        self.assertEqual(self.shelf.call("get", "docs", "a").value, b"one")

    def test_a_snapshot_of_somebody_else_is_refused(self):
        self.assertEqual(self.shelf.call("restore", "docs", "../other/000").data["error"], "snapshot")

    def test_old_snapshots_are_removed(self):
        names = [self.snapshot() for _ in range(3)]
        kept = sorted(entry.name for entry in (self.folder / "snapshots" / "docs").iterdir())

        self.assertEqual(kept, names[1:])


if __name__ == "__main__":
    unittest.main()

import unittest

from support import World


class CatalogTest(unittest.TestCase):
    def test_an_item_can_be_created_and_read(self):
        client = World().client()
        created = client.post("/v1/items", {"sku": "BOLT-8", "name": "Bolt 8 mm"})

        self.assertEqual(created.status, 201)
        self.assertEqual(client.get("/v1/items/BOLT-8").json()["name"], "Bolt 8 mm")

    def test_a_sku_is_unique_within_an_account(self):
        client = World().client()
        client.post("/v1/items", {"sku": "BOLT-8", "name": "Bolt"})

        self.assertEqual(client.post("/v1/items", {"sku": "BOLT-8", "name": "Other"}).json()["error"], "sku_taken")

    def test_a_rename_is_seen_at_once(self):
        client = World().client()
        client.post("/v1/items", {"sku": "BOLT-8", "name": "Bolt"})
        client.get("/v1/items/BOLT-8")
        client.call("PATCH", "/v1/items/BOLT-8", {"name": "Screw"})

        self.assertEqual(client.get("/v1/items/BOLT-8").json()["name"], "Screw")

    def test_pages_join_up(self):
        client = World().client()
        for number in range(7):
            client.post("/v1/items", {"sku": f"S{number}", "name": f"Name {number}"})
        first = client.get("/v1/items?limit=4").json()
        second = client.get(f"/v1/items?limit=4&cursor={first['next']}").json()

        self.assertEqual([item["sku"] for item in first["items"] + second["items"]], [f"S{n}" for n in range(7)])
        self.assertIsNone(second["next"])

    def test_the_export_is_csv(self):
        client = World().client()
        client.post("/v1/items", {"sku": "C-1", "name": "Cable, red"})
        lines = client.get("/v1/export/items").body.decode().split("\r\n")

        self.assertEqual(lines[0], "sku,name,unit,created_at")
        self.assertTrue(lines[1].startswith('C-1,"Cable, red",piece,'))

    def test_a_foreign_cursor_is_refused(self):
        self.assertEqual(World().client().get("/v1/items?cursor=%21%21").json()["error"], "bad_cursor")


if __name__ == "__main__":
    unittest.main()

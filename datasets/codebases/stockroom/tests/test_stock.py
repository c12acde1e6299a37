import json
import unittest

from support import World, stocked

from stockroom.errors import ValidationError
from stockroom.serial import format_quantity, parse_quantity


class QuantityTest(unittest.TestCase):
    def test_quantities_go_there_and_back(self):
        for text in ("0.000", "4.250", "-12.500", "1000.000"):
            self.assertEqual(format_quantity(parse_quantity(text)), text)

    def test_nonsense_is_refused(self):
        for raw in (None, True, "many", "NaN", [], "1e40"):
            with self.subTest(raw), self.assertRaises(ValidationError):
                parse_quantity(raw)


class StockTest(unittest.TestCase):
    def test_a_transfer_changes_both_levels(self):
        client = stocked(World())
        answer = client.post("/v1/items/BOLT-8/transfers", {"from": "A1", "to": "B1", "quantity": "5"})

        self.assertEqual([level["quantity"] for level in answer.json()["levels"]], ["15.000", "5.000"])

    def test_a_refused_transfer_changes_nothing(self):
        client = stocked(World())
        answer = client.post("/v1/items/BOLT-8/transfers", {"from": "A1", "to": "B1", "quantity": "15"})

        self.assertEqual(answer.json()["error"], "location_full")
        self.assertEqual(client.get("/v1/items/BOLT-8/levels").json()["levels"][0]["quantity"], "20.000")

    def test_reserved_stock_cannot_be_taken(self):
        client = stocked(World())
        client.post("/v1/items/BOLT-8/reservations", {"location": "A1", "quantity": "18"})
        taken = client.post(
            "/v1/items/BOLT-8/adjustments", {"location": "A1", "quantity": "-3", "reason": "order"}
        )

        self.assertEqual((taken.status, taken.json()["error"]), (409, "not_enough_stock"))

    def test_a_reservation_ends_by_itself(self):
        world = World(reservation_minutes=30)
        client = stocked(world)
        client.post("/v1/items/BOLT-8/reservations", {"location": "A1", "quantity": "18"})
        world.clock.advance(1801)

        self.assertEqual(client.get("/v1/items/BOLT-8/levels").json()["levels"][0]["reserved"], "0.000")

    def test_movements_are_newest_first(self):
        client = stocked(World())
        client.post("/v1/items/BOLT-8/adjustments", {"location": "A1", "quantity": -2, "reason": "order"})
        movements = client.get("/v1/items/BOLT-8/movements").json()["movements"]

        self.assertEqual([movement["delta"] for movement in movements], ["-2.000", "20.000"])

    def test_a_change_is_announced(self):
        world = World()
        client = stocked(world)
        client.post("/v1/webhooks", {"event": "stock.changed", "url": "https://hooks.example.com/a"})
        client.post("/v1/items/BOLT-8/adjustments", {"location": "A1", "quantity": "1", "reason": "found"})

        self.assertEqual(json.loads(world.sent[0][1])["data"]["quantity"], "21.000")

    def test_a_failing_receiver_is_tried_three_times(self):
        world = World()
        client = stocked(world)
        client.post("/v1/webhooks", {"event": "stock.changed", "url": "https://hooks.example.com/a"})
        world.status = 503
        answer = client.post("/v1/items/BOLT-8/adjustments", {"location": "A1", "quantity": "1", "reason": "found"})

        self.assertEqual((answer.status, len(world.sent)), (200, 3))


if __name__ == "__main__":
    unittest.main()

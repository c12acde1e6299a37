import unittest

from support import World, stocked

from stockroom.client import LocalClient
from stockroom.errors import ConfigurationError
from stockroom.settings import Settings


class AccessTest(unittest.TestCase):
    def test_health_needs_no_token(self):
        self.assertEqual(LocalClient(World().app).get("/healthz").status, 200)

    def test_everything_else_does(self):
        self.assertEqual(LocalClient(World().app).get("/v1/items").json()["error"], "token_missing")

    def test_a_forged_token_is_refused(self):
        world = World()
        token = world.client()._token

        self.assertEqual(LocalClient(world.app, token[:-2] + "xx").get("/v1/items").json()["error"], "token_forged")

    def test_an_expired_token_is_refused(self):
        world = World()
        client = world.client()
        world.clock.advance(3600 + 31)

        self.assertEqual(client.get("/v1/items").json()["error"], "token_expired")

    def test_a_scope_that_is_missing_is_named(self):
        answer = World().client(scopes=frozenset({"items:read"})).post("/v1/items", {"sku": "A", "name": "A"})

        self.assertEqual((answer.status, answer.json()["error"]), (403, "scope_missing"))

    def test_a_restricted_token_stays_at_its_locations(self):
        world = World()
        stocked(world)
        answer = world.client(locations=("B1",)).post(
            "/v1/items/BOLT-8/adjustments", {"location": "A1", "quantity": 1, "reason": "receipt"}
        )

        self.assertEqual(answer.json()["error"], "location_forbidden")

    def test_an_unknown_path_and_a_wrong_method_differ(self):
        client = World().client()

        self.assertEqual(client.get("/v2/items").status, 404)
        self.assertEqual(client.call("DELETE", "/v1/items").status, 405)

    def test_settings_need_a_secret(self):
        with self.assertRaises(ConfigurationError):
            Settings.from_env({})


if __name__ == "__main__":
    unittest.main()

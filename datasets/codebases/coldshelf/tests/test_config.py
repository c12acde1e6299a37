"""Settings from file and environment, tokens and grants."""

import unittest

from coldshelf.config import load_settings, parse_duration, parse_flag, parse_size
from coldshelf.errors import AccessDenied, ConfigError
from coldshelf.tokens import Access, digest_of, load_tokens, parse_grant
from support import ShelfTest


class SettingsTest(ShelfTest):
    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_the_environment_overrides_the_file(self):
        path = self.write("shelf.toml", 'segment_size = "1MiB"\nfsync = true\n')
        settings = load_settings(path, {"COLDSHELF_FSYNC": "no"})

        self.assertEqual((settings.segment_size, settings.fsync), (1024**2, False))

    def test_namespaces_start_from_the_defaults(self):
        path = self.write("shelf.toml", '[defaults]\ncache_ttl = "1m"\n[namespaces.sessions]\nttl = "8h"\n')
        settings = load_settings(path, {})

        self.assertEqual(settings.namespace("sessions").ttl, 28800)
        self.assertEqual(settings.namespace("sessions").cache_ttl, 60)
        self.assertIsNone(settings.namespace("other").ttl)

    def test_unknown_settings_are_refused(self):
        with self.assertRaisesRegex(ConfigError, "sessions.colour"):
            load_settings(self.write("shelf.toml", '[namespaces.sessions]\ncolour = "red"\n'), {})

    def test_a_threshold_outside_its_range_is_refused(self):
        with self.assertRaises(ConfigError):
            load_settings(self.write("shelf.toml", "compact_below = 1.5\n"), {})

    def test_durations_and_sizes(self):
        for raw, seconds in ((90, 90), ("90", 90), ("90s", 90), ("5m", 300), ("2 d", 172800), ("1w", 604800)):
            self.assertEqual(parse_duration(raw), seconds)
        for raw, size in ((4096, 4096), ("512KiB", 524288), ("2 GiB", 2147483648)):
            self.assertEqual(parse_size(raw), size)

    def test_nonsense_is_refused(self):
        nonsense = ((parse_duration, "soon"), (parse_duration, "5 m x"), (parse_size, "64MB"), (parse_flag, "on?"))
        for parse, raw in nonsense:
            with self.assertRaises(ConfigError):
                parse(raw)

    def test_tokens_are_known_by_their_digest(self):
        path = self.write("t.toml", f'[tokens.billing]\nsha256 = "{digest_of("x")}"\ngrants = ["invoices:write"]\n')
        principal = load_tokens(path).verify("x", 0)

        self.assertEqual(principal.name, "billing")
        self.assertTrue(principal.may("invoices", Access.READ))
        with self.assertRaises(AccessDenied):
            load_tokens(path).verify("y", 0)

    def test_a_token_without_grants_is_refused(self):
        with self.assertRaisesRegex(ConfigError, "grants is missing"):
            load_tokens(self.write("t.toml", '[tokens.billing]\nsha256 = "00"\n'))


class GrantTest(unittest.TestCase):
    def test_a_plain_grant_covers_one_namespace(self):
        grant = parse_grant("reports:write")

        self.assertTrue(grant.covers("reports", Access.WRITE))
        self.assertFalse(grant.covers("invoices", Access.READ))
        self.assertFalse(grant.covers("reports", Access.ADMIN))

    def test_a_subtree_grant_covers_what_is_below(self):
        grant = parse_grant("reports.*:read")

        self.assertTrue(grant.covers("reports", Access.READ))
        self.assertTrue(grant.covers("reports.2026", Access.READ))
        self.assertFalse(grant.covers("invoices", Access.READ))

    def test_an_unknown_access_is_refused(self):
        with self.assertRaises(ConfigError):
            parse_grant("reports:own")


if __name__ == "__main__":
    unittest.main()

import gzip
import unittest
from datetime import datetime

from support import BERLIN, UTC, World

from tallyflow.errors import RowError, SourceError
from tallyflow.localtime import StampReader
from tallyflow.schema import RowSchema


class StampTest(unittest.TestCase):
    def test_an_offset_speaks_for_itself(self):
        stamp = StampReader(BERLIN).read("E1", "2026-07-01T12:00:00+02:00")

        self.assertEqual(stamp, datetime(2026, 7, 1, 10, tzinfo=UTC))

    def test_a_naive_stamp_is_what_the_source_says(self):
        for naive, hour in (("local", 10), ("utc", 12)):
            with self.subTest(naive):
                self.assertEqual(StampReader(BERLIN, naive).read("E1", "01.07.2026 12:00").hour, hour)

    def test_the_repeated_hour_is_told_apart_by_order(self):
        stamps = StampReader(BERLIN)
        texts = ("01:30", "02:00", "02:30", "02:00", "02:30", "03:00")
        hours = [stamps.read("E1", f"2026-10-25 {text}").hour for text in texts]

        self.assertEqual(hours, [23, 0, 0, 1, 1, 2])

    def test_nonsense_is_no_time(self):
        with self.assertRaises(RowError):
            StampReader(BERLIN).read("E1", "yesterday")


class SchemaTest(unittest.TestCase):
    def test_columns_can_be_renamed_and_fixed(self):
        schema = RowSchema({"at": "time", "value": "kwh"}, meter="E1", unit="kWh", decimal=",")
        read = schema.reading({"time": "2026-03-02T00:00Z", "kwh": "1.204,5"}, StampReader(BERLIN), "a.csv:2")

        self.assertEqual((read.meter, read.value, read.unit), ("E1", 1204.5, "kWh"))

    def test_a_placeholder_is_no_reading(self):
        schema = RowSchema(meter="E1", unit="kWh")

        self.assertIsNone(schema.reading({"at": "2026-03-02T00:00Z", "value": "n/a"}, StampReader(BERLIN), "a.csv:2"))


class SourceTest(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.close)

    def read(self):
        return self.world.config.sources["gateway"].readings(self.world.base, BERLIN)

    def test_files_are_read_by_name(self):
        self.world.write("b.csv", "E1;2026-03-03T00:00Z;2;kWh")
        self.world.write("a.csv", "E1;2026-03-02T00:00Z;1;kWh")

        self.assertEqual([each.origin for each in self.read()["E1"]], ["a.csv:2", "b.csv:2"])

    def test_too_many_bad_rows_end_the_run(self):
        self.world.write("a.csv", "E1;2026-03-02T00:00Z;lots;kWh")
        with self.assertLogs("tallyflow.sources", "WARNING"), self.assertRaises(SourceError):
            self.read()

    def test_some_bad_rows_may_be_allowed(self):
        self.world.document["sources"]["gateway"]["bad_rows"] = 1
        self.world.write("a.csv", "E1;2026-03-02T00:00Z;lots;kWh", "E1;2026-03-02T01:00Z;1;kWh")
        with self.assertLogs("tallyflow.sources", "WARNING"):
            self.assertEqual(len(self.read()["E1"]), 1)

    def test_json_lines_may_be_gzipped(self):
        self.world.document["sources"]["gateway"] |= {"path": "*.gz", "format": "jsonl"}
        row = b'{"meter": "E1", "at": 1772409600, "value": 4.5, "unit": "kWh"}\n'
        (self.world.base / "a.jsonl.gz").write_bytes(gzip.compress(row))

        self.assertEqual(self.read()["E1"][0].value, 4.5)

    def test_no_file_is_an_error(self):
        with self.assertRaises(SourceError):
            self.read()


if __name__ == "__main__":
    unittest.main()

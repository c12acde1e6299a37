import unittest
from datetime import datetime

from support import BERLIN, UTC, at, reading, samples, values

from tallyflow import aggregate, anomalies, gaps, registers, resample
from tallyflow.errors import ConfigError, RegisterError, UnitError
from tallyflow.meters import Meter
from tallyflow.model import Flow, Quality
from tallyflow.rolling import CompensatedSum, RollingStats
from tallyflow.timegrid import Grid
from tallyflow.units import STANDARD

METER = Meter("E1", "north", digits=4)


class UnitTest(unittest.TestCase):
    def test_energy_is_converted(self):
        self.assertAlmostEqual(STANDARD.convert(7.2, "MJ", "kWh"), 2.0)

    def test_temperatures_have_offsets_and_their_differences_have_none(self):
        self.assertAlmostEqual(STANDARD.convert(50.0, "degF", "degC"), 10.0)
        self.assertAlmostEqual(STANDARD.scale(9.0, "degF", "degC"), 5.0)

    def test_case_does_not_matter_where_one_unit_can_be_meant(self):
        self.assertEqual(STANDARD.find("kwh").name, "kWh")

    def test_unknown_and_unlike_units_are_refused(self):
        for pair in (("stone", "kWh"), ("m3", "kWh")):
            with self.subTest(pair), self.assertRaises(UnitError):
                STANDARD.convert(1.0, *pair)


class RegisterTest(unittest.TestCase):
    def test_a_flow_is_a_difference_after_the_transformers(self):
        meter = Meter("E1", "north", ratio=40.0)
        found = registers.flows(meter, [reading(1, 12.5), reading(0, 12.0)])

        self.assertEqual([(flow.start, flow.amount) for flow in found], [(at(0), 20.0)])

    def test_a_counter_passes_zero(self):
        found = registers.flows(METER, [reading(0, 9990.0), reading(1, 15.0)])

        self.assertEqual(found[0].amount, 25.0)

    def test_a_counter_that_falls_a_little_is_refused(self):
        with self.assertRaises(RegisterError):
            registers.flows(METER, [reading(0, 500.0), reading(1, 499.0)])

    def test_the_first_of_two_values_counts(self):
        with self.assertLogs("tallyflow.registers", "WARNING"):
            found = registers.flows(METER, [reading(0, 1.0), reading(1, 2.0), reading(1, 3.0)])

        self.assertEqual([flow.amount for flow in found], [1.0])

    def test_amounts_are_taken_as_they_are(self):
        meter = Meter("E1", "north", kind="amount")
        found = registers.flows(meter, [reading(0, 5000.0, "Wh"), reading(1, 3000.0, "Wh")])

        self.assertEqual([flow.amount for flow in found], [3.0])


class GridTest(unittest.TestCase):
    def test_days_follow_the_clock_change(self):
        slot = Grid("day", BERLIN).slot(datetime(2026, 10, 25, 12, tzinfo=UTC))

        self.assertEqual((slot.end - slot.start).total_seconds(), 25 * 3600)

    def test_months_meet(self):
        grid = Grid("month", BERLIN)
        slots = list(grid.slots(datetime(2026, 1, 15, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)))

        self.assertEqual([grid.label(slot) for slot in slots], ["2026-01", "2026-02", "2026-03", "2026-04"])

    def test_the_repeated_hour_has_two_names(self):
        grid = Grid("hour", BERLIN)
        labels = [grid.label(grid.slot(datetime(2026, 10, 25, hour, tzinfo=UTC))) for hour in (0, 1, 2)]

        self.assertEqual(labels, ["2026-10-25 02:00+0200", "2026-10-25 02:00+0100", "2026-10-25 03:00"])


class ResampleTest(unittest.TestCase):
    def test_a_flow_is_divided_by_time(self):
        spread = resample.spread([Flow(at(0.5), at(2), 3.0)], Grid("hour", BERLIN))

        self.assertEqual(values(spread), [1.0, 2.0])

    def test_what_nobody_measured_is_missing(self):
        spread = resample.spread([Flow(at(0), at(1), 3.0), Flow(at(2), at(3), 3.0)], Grid("hour", BERLIN))

        self.assertEqual(values(spread), [3.0, None, 3.0])

    def test_levels_are_averaged_in_the_reporting_unit(self):
        meter = Meter("T1", "north", kind="level", unit="degC")
        found = resample.average(meter, [reading(0, 283.15, "K"), reading(0.5, 285.15, "K")], Grid("hour", BERLIN))

        self.assertEqual([round(value, 6) for value in values(found)], [11.0])


class GapTest(unittest.TestCase):
    def test_short_gaps_are_filled(self):
        for method, expected in (("linear", [1.0, 2.0, 3.0]), ("hold", [1.0, 1.0, 3.0]), ("zero", [1.0, 0.0, 3.0])):
            with self.subTest(method):
                self.assertEqual(values(gaps.fill("E1", samples(1.0, None, 3.0), method, 1)), expected)

    def test_long_gaps_stay_open(self):
        rows = samples(1.0, None, None, 3.0)

        with self.assertLogs("tallyflow.gaps", "WARNING"):
            self.assertEqual(gaps.fill("E1", rows, "linear", 1), rows)

    def test_the_end_holds_what_was_there(self):
        self.assertEqual(values(gaps.fill("E1", samples(1.0, None), "linear", 1)), [1.0, 1.0])


class StatisticsTest(unittest.TestCase):
    def test_small_values_survive_large_ones(self):
        self.assertEqual(CompensatedSum([1e16, 1.0, -1e16]).value, 1.0)

    def test_the_window_forgets(self):
        stats = RollingStats(3)
        for value in (1000.0, 1.0, 2.0, 3.0):
            stats.push(value)

        self.assertEqual((stats.mean, stats.deviation), (2.0, 1.0))

    def test_an_outlier_is_marked_and_forgotten(self):
        rule = anomalies.Rule(window=8, warm_up=4)
        with self.assertLogs("tallyflow.anomalies", "WARNING"):
            flagged = anomalies.flag("E1", samples(1.0, 1.2, 0.9, 1.1, 50.0, 1.0), rule)

        self.assertEqual([row.quality for row in flagged][3:], [Quality.MEASURED, Quality.SUSPECT, Quality.MEASURED])


class AggregateTest(unittest.TestCase):
    meters = {"E1": Meter("E1", "north"), "E2": Meter("E2", "north")}

    def test_a_site_is_the_sum_of_its_meters(self):
        table = aggregate.by_site({"E1": samples(1.0, 2.0), "E2": samples(10.0, None, 30.0)}, self.meters)

        self.assertEqual(values(table["north"]), [11.0, 2.0, 30.0])

    def test_a_sum_is_as_good_as_its_worst_part(self):
        table = aggregate.by_site({"E1": samples(1.0), "E2": samples(None)}, self.meters)

        self.assertEqual(table["north"][0].quality, Quality.ESTIMATED)

    def test_units_are_not_mixed(self):
        meters = {**self.meters, "E2": Meter("E2", "north", unit="m3")}
        with self.assertRaises(ConfigError):
            aggregate.by_site({"E1": samples(1.0), "E2": samples(1.0)}, meters)

    def test_the_first_table_that_knows_wins(self):
        table = aggregate.merged([{"E1": samples(1.0, None)}, {"E1": samples(7.0, 8.0)}])

        self.assertEqual(values(table["E1"]), [1.0, 8.0])

    def test_one_table_minus_another(self):
        table = aggregate.minus({"E1": samples(5.0, 6.0)}, {"E1": samples(1.0, None)})

        self.assertEqual(values(table["E1"]), [4.0, None])


if __name__ == "__main__":
    unittest.main()

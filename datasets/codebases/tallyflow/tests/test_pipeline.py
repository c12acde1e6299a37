import contextlib
import io
import json
import unittest

from support import CHAIN, World, values

from tallyflow.checkpoints import CheckpointStore
from tallyflow.cli import main
from tallyflow.errors import ConfigError, StepError
from tallyflow.graph import Graph

ROWS = [f"E1;2026-03-02T{hour:02d}:00Z;{100 + hour};kWh" for hour in range(24)] + ["E1;2026-03-03T00:00Z;124;kWh"]
PIPELINE = """
[tallyflow]
log_level = "ERROR"
[meters.E1]
site = "north"
[sources.gateway]
path = "*.csv"
[steps.readings]
kind = "read"
source = "gateway"
[steps.amounts]
kind = "difference"
inputs = ["readings"]
[steps.hours]
kind = "resample"
inputs = ["amounts"]
interval = "hour"
"""


class PipelineTest(unittest.TestCase):
    def world(self, *arguments, **meters):
        world = World(*arguments, **meters)
        self.addCleanup(world.close)
        world.write("a.csv", *ROWS)
        return world

    def plan(self, world):
        return [planned.stored for planned in Graph(world.config).plan(CheckpointStore(world.config.checkpoints))]

    def test_a_day_adds_up(self):
        self.assertEqual(values(self.world().run()["sites"]["north"]), [24.0])

    def test_a_second_run_takes_everything_from_checkpoints(self):
        world = self.world()
        first = world.run()

        self.assertEqual(self.plan(world), [True] * 5)
        self.assertEqual(world.run(), first)

    def test_a_changed_option_is_computed_again_with_all_that_follows(self):
        world = self.world()
        world.run()
        world.document["steps"]["whole"] = {**CHAIN["whole"], "max_gap": 5}

        self.assertEqual(self.plan(world), [True, True, True, False, False])

    def test_a_changed_file_changes_everything(self):
        world = self.world()
        world.run()
        world.write("b.csv", "E1;2026-03-03T01:00Z;125;kWh")

        self.assertEqual(self.plan(world), [False] * 5)

    def test_a_damaged_checkpoint_is_as_good_as_none(self):
        world = self.world()
        world.run()
        (world.base / "kept" / "hours.json").write_text("{", encoding="utf-8")

        self.assertEqual(self.plan(world), [True, True, False, True, True])

    def test_the_environment_overrules_the_file(self):
        self.assertEqual(self.world(CHAIN, {"TALLYFLOW_TIMEZONE": "Europe/Berlin"}).config.tz.key, "Europe/Berlin")

    def test_the_failed_step_is_named(self):
        world = self.world(E2={"site": "north"})
        with self.assertRaises(StepError) as caught:
            world.run()

        self.assertEqual(caught.exception.step, "amounts")

    def test_a_plugin_changes_samples(self):
        plugin = {"kind": "plugin", "inputs": ["sites"], "use": "support:scaled", "with": {"by": 0.5}}

        self.assertEqual(values(self.world({**CHAIN, "own": plugin}).run()["own"]["north"]), [12.0])

    def test_wrong_pipelines_are_refused(self):
        for step in (
            {"kind": "guess"},
            {"kind": "resample", "inputs": ["amounts"]},
            {"kind": "fill", "inputs": ["nowhere"]},
            {"kind": "minus", "inputs": ["hours"]},
            {"kind": "fill", "inputs": ["extra"]},
            {"kind": "flag", "inputs": ["hours"], "windw": 3},
        ):
            with self.subTest(step), self.assertRaises(ConfigError):
                Graph(self.world({**CHAIN, "extra": step}).config)


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.close)
        self.file = self.world.base / "pipeline.toml"
        self.file.write_text(PIPELINE, encoding="utf-8")

    def call(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
        return code, out.getvalue(), err.getvalue()

    def test_a_report_is_a_table(self):
        self.world.write("a.csv", *ROWS)
        code, out, _ = self.call("report", str(self.file), "hours", "--last", "2")

        self.assertEqual(code, 0)
        self.assertEqual([line.split() for line in out.splitlines()][1:4], [
            ["2026-03-02", "22:00", "1.0"],
            ["2026-03-02", "23:00", "1.0"],
            ["total", "24.0"],
        ])

    def test_an_error_is_one_line_and_a_code(self):
        code, _, err = self.call("run", str(self.file))

        self.assertEqual((code, err.count("\n")), (3, 1))

    def test_units_are_listed(self):
        self.assertIn("kWh", self.call("units")[1])

    def test_a_checkpoint_is_json(self):
        self.world.write("a.csv", *ROWS)
        self.file.write_text(PIPELINE.replace("[meters", 'checkpoints = "kept"\n[meters', 1), encoding="utf-8")
        self.call("run", str(self.file))

        self.assertEqual(json.loads((self.world.base / "kept" / "hours.json").read_text())["step"], "hours")


if __name__ == "__main__":
    unittest.main()

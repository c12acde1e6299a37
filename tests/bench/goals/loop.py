"""The daily loop: what a person waits for after an edit, beside 201 trials of the bare graph in the same minute."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen

from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import FOLDER, Readings, keep_reading, load, rendered
from evals.cli.next_watch_round import WHEN_TOLD
from evals.models.run_request import Options
from evals.pipeline.load_suite import selected
from evals.pipeline.run_suite import replay
from evals.recording.coverage import asked_for, split_by_use
from tests.bench.cost import REPOSITORY, Cost, evals
from tests.bench.generated import a_checkout
from tests.bench.goals.many import CASES, other
from tests.bench.line import Line
from tests.bench.sampled import with_floor
from tests.bench.scene import a_scene, a_suite, again, forget, remembered
from tests.builders.processes import children_of, command_of, reads_a_pipe
from tests.builders.waiting import until

PROMPTS = REPOSITORY / "triage" / "prompts" / "supervisor"
BARE_S = 8
"""What the bare graph's 201 trials take on the machine that the goals in seconds are meant for."""

WATCHING = "watching for changes"


def lines(folder: Path) -> Iterator[Line]:
    """Every step of the loop in the order in which it is met; all with the committed cassettes and every case."""
    bare = other(a_checkout(folder / "many", CASES), "bare")
    scene = a_scene(folder / "loop")
    cold = evals(scene, "run", "prompts")
    yield with_floor(_line("`make eval`, nothing cached", cold, bare, 8), forget(scene), "run", "prompts")

    ground = Ground.of(folder / "edited")
    ground.edited_word()
    edited = evals(ground.scene, "run", ground.suite, codes=(3,))
    yield with_floor(_line("one word edited → exit 3", edited, bare, 2), ground.reset(), "run", ground.suite)
    yield _watched("one word edited → exit 3", ground.watched(ground.edited_word, "exit code 3"), bare, 2)
    plan = evals(ground.reset(), "plan", ground.suite, codes=(3,))
    yield with_floor(_line("`evals plan` after an edit", plan, bare, 3), ground.reset(), "plan", ground.suite)

    ground.recorded_version()
    recorded = evals(ground.reset(), "run", ground.suite)
    yield with_floor(_line("edited and re-recorded → verdict", recorded, bare, 4), ground.reset(), "run", ground.suite)
    yield _watched(
        "edited and re-recorded → verdict", ground.watched(ground.recorded_version, "mine against v3"), bare, 4
    )

    ground.edit((PROMPTS / "v1.md").read_text(encoding="utf-8"))
    new = ground.with_version("v5")
    first = evals(ground.reset(), "run", new)
    yield with_floor(_line("new version → first verdict", first, bare, 8), ground.reset(), "run", new)


def _waits(pid: int) -> bool:
    """Whether the process of the next round has loaded its libraries: it reads its pipe."""
    return any(WHEN_TOLD in command_of(child) and reads_a_pipe(child) for child in children_of(pid))


def _line(what: str, cost: Cost, bare: Cost, goal_s: float) -> Line:
    ratio, goal = cost.wall_s / bare.wall_s, goal_s / BARE_S
    processor = cost.cpu_s / bare.cpu_s
    measured = f"{ratio:.2f}, processor {processor:.2f} ({cost.seconds}; {CASES * 3} bare trials: {bare.seconds})"
    return Line(f"{what}, wall time as a share of the bare graph's trials", f"≤ {goal:g}", measured, ratio <= goal)


def _watched(what: str, wall_s: float, bare: Cost, goal_s: float) -> Line:
    """What waits for the next round has loaded its libraries before: their time is in no floor of this line."""
    ratio, goal = wall_s / bare.wall_s, goal_s / BARE_S
    measured = f"{ratio:.2f} ({wall_s:.1f} s wall; {CASES * 3} bare trials: {bare.seconds})"
    return Line(f"{what} under `--watch`, as a share of the bare trials", f"≤ {goal:g}", measured, ratio <= goal)


@dataclass(frozen=True)
class Ground:
    """A checkout in which v3 was run against a prompt of its own, v1's text, before anything of v5 was recorded."""

    scene: Path
    suite: str
    earlier: dict[Path, bytes]
    whole: dict[Path, bytes]
    cached: Path

    @classmethod
    def of(cls, folder: Path) -> "Ground":
        """Everything but v5 is cached; of v5 only that its cassettes have been read, as a recording leaves them."""
        scene = a_scene(folder)
        shutil.copy(PROMPTS / "v1.md", scene / "mine.md")
        names = [{"name": "v3", "prompt": "v3"}, {"name": "mine", "prompt": "mine.md"}]
        suite = str(a_suite(scene, "edited", {}, names))
        whole = {path: path.read_bytes() for path in (scene / "cassettes").glob("*.yaml")}
        with chdir(scene):
            asked = asked_for(replay(selected(suite, scene, Options()), jobs=2).traces)
        forget(scene)
        for path in whole:
            keep_reading(path, Readings(scene / ".cache" / FOLDER))
            used, _ = split_by_use(load(path), asked.get(path.stem, set()))
            path.write_text(rendered(Cassette(path, used)), encoding="utf-8")
        evals(scene, "run", suite)
        return cls(scene, suite, {path: path.read_bytes() for path in whole}, whole, remembered(scene))

    @property
    def candidate(self) -> Path:
        """The prompt that is edited."""
        return self.scene / "mine.md"

    def edit(self, text: str) -> None:
        """Another text for the candidate's prompt."""
        self.candidate.write_text(text, encoding="utf-8")

    def edited_word(self) -> None:
        """One more word in the candidate's prompt."""
        self.edit((PROMPTS / "v1.md").read_text(encoding="utf-8") + "Hurry.\n")

    def recorded_version(self) -> None:
        """The candidate's prompt is v5's, and every cassette another file, which holds v5's answers."""
        for path, content in self.whole.items():
            path.write_bytes(content)
        self.edit((PROMPTS / "v5.md").read_text(encoding="utf-8"))

    def before(self) -> Path:
        """As it was before any edit; the checkout again."""
        self.edit((PROMPTS / "v1.md").read_text(encoding="utf-8"))
        for path, content in self.earlier.items():
            path.write_bytes(content)
        return self.reset()

    def watched(self, change: Callable[[], None], expected: str) -> float:
        """Seconds from a change to the end of its round, which says what is expected, while the suite is watched."""
        command = [sys.executable, "-m", "evals", "run", self.suite, "--watch"]
        where = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        with Popen(command, cwd=self.before(), env=where, stdout=PIPE, stderr=STDOUT, text=True) as process:
            lines = iter(process.stdout.readline, "")
            _ = [*takewhile(lambda line: WATCHING not in line, lines)]
            until(partial(_waits, process.pid))  # the next round has its libraries loaded
            began = time.perf_counter()
            change()
            said = "".join(takewhile(lambda line: WATCHING not in line, lines))
            wall_s = time.perf_counter() - began
            process.send_signal(signal.SIGINT)
        if expected not in said:
            raise RuntimeError(f"watched: {said[-2000:]}")
        return wall_s

    def with_version(self, version: str) -> str:
        """The suite with one more version, which is the candidate."""
        names = [{"name": "v3", "prompt": "v3"}, {"name": "mine", "prompt": "mine.md"}]
        return str(a_suite(self.scene, "newer", {}, [*names, {"name": version, "prompt": version}]))

    def reset(self) -> Path:
        """Cached is what was before the edit; the checkout again."""
        return again(self.scene, self.cached)

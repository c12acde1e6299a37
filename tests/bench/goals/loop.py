"""The daily loop: what a person waits for after an edit, beside 201 trials of the bare graph in the same minute."""

import shutil
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from evals.cassettes.cassette_files import load, rendered
from evals.cassettes.interaction import Cassette
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

PROMPTS = REPOSITORY / "triage" / "prompts" / "supervisor"
BARE_S = 8
"""What the bare graph's 201 trials take on the machine that the goals in seconds are meant for."""


def lines(folder: Path) -> Iterator[Line]:
    """Every step of the loop in the order in which it is met; all with the committed cassettes and every case."""
    bare = other(a_checkout(folder / "many", CASES), "bare")
    scene = a_scene(folder / "loop")
    cold = evals(scene, "run", "prompts")
    yield with_floor(_line("`make eval`, nothing cached", cold, bare, 8), forget(scene), "run", "prompts")

    ground = Ground.of(folder / "edited")
    ground.edit(f"{ground.candidate.read_text(encoding='utf-8')}Hurry.\n")
    edited = evals(ground.scene, "run", ground.suite, codes=(3,))
    yield with_floor(_line("one word edited → exit 3", edited, bare, 2), ground.reset(), "run", ground.suite)
    plan = evals(ground.reset(), "plan", ground.suite, codes=(3,))
    yield with_floor(_line("`evals plan` after an edit", plan, bare, 3), ground.reset(), "plan", ground.suite)

    ground.edit((PROMPTS / "v5.md").read_text(encoding="utf-8"))
    ground.record()
    recorded = evals(ground.reset(), "run", ground.suite)
    yield with_floor(_line("edited and re-recorded → verdict", recorded, bare, 4), ground.reset(), "run", ground.suite)

    ground.edit((PROMPTS / "v1.md").read_text(encoding="utf-8"))
    new = ground.with_version("v5")
    first = evals(ground.reset(), "run", new)
    yield with_floor(_line("new version → first verdict", first, bare, 8), ground.reset(), "run", new)


def _line(what: str, cost: Cost, bare: Cost, goal_s: float) -> Line:
    ratio, goal = cost.wall_s / bare.wall_s, goal_s / BARE_S
    processor = cost.cpu_s / bare.cpu_s
    measured = f"{ratio:.2f}, processor {processor:.2f} ({cost.seconds}; {CASES * 3} bare trials: {bare.seconds})"
    return Line(f"{what}, wall time as a share of the bare graph's trials", f"≤ {goal:g}", measured, ratio <= goal)


@dataclass(frozen=True)
class Ground:
    """A checkout in which v3 was run against a prompt of its own, v1's text, before anything of v5 was recorded."""

    scene: Path
    suite: str
    whole: dict[Path, bytes]
    cached: Path

    @classmethod
    def of(cls, folder: Path) -> "Ground":
        """Everything but v5 is cached."""
        scene = a_scene(folder)
        shutil.copy(PROMPTS / "v1.md", scene / "mine.md")
        names = [{"name": "v3", "prompt": "v3"}, {"name": "mine", "prompt": "mine.md"}]
        suite = str(a_suite(scene, "edited", {}, names))
        whole = {path: path.read_bytes() for path in (scene / "cassettes").glob("*.yaml")}
        with chdir(scene):
            asked = asked_for(replay(selected(suite, scene, Options()), jobs=2).traces)
        for path in whole:
            used, _ = split_by_use(load(path), asked.get(path.stem, set()))
            path.write_text(rendered(Cassette(path, used)), encoding="utf-8")
        forget(scene)
        evals(scene, "run", suite)
        return cls(scene, suite, whole, remembered(scene))

    @property
    def candidate(self) -> Path:
        """The prompt that is edited."""
        return self.scene / "mine.md"

    def edit(self, text: str) -> None:
        """Another text for the candidate's prompt."""
        self.candidate.write_text(text, encoding="utf-8")

    def record(self) -> None:
        """The cassettes now hold v5's answers, too: every one of them is another file than it was."""
        for path, content in self.whole.items():
            path.write_bytes(content)

    def with_version(self, version: str) -> str:
        """The suite with one more version, which is the candidate."""
        names = [{"name": "v3", "prompt": "v3"}, {"name": "mine", "prompt": "mine.md"}]
        return str(a_suite(self.scene, "newer", {}, [*names, {"name": version, "prompt": version}]))

    def reset(self) -> Path:
        """Cached is what was before the edit; the checkout again."""
        return again(self.scene, self.cached)

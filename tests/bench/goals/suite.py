"""`evals run` over the committed suite: nothing cached, unchanged, one prompt of three edited and recorded again."""

import shutil
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import load, rendered
from evals.models.run_request import Options
from evals.pipeline.load_suite import selected
from evals.pipeline.run_suite import replay
from evals.recording.coverage import asked_for, split_by_use
from evals.shortcut_switch import SWITCH
from tests.bench.cost import REPOSITORY, evals
from tests.bench.line import Line
from tests.bench.sampled import with_floor
from tests.bench.scene import a_scene, a_suite, again, forget, remembered

PROMPTS = REPOSITORY / "triage" / "prompts" / "supervisor"


def lines(folder: Path) -> Iterator[Line]:
    """Short path and plain path side by side, then what follows from a filled cache."""
    scene = a_scene(folder / "suite")
    plain = evals(scene, "run", "prompts", **{SWITCH: "1"})
    forget(scene)
    short = evals(scene, "run", "prompts")
    cached = remembered(scene)
    cold = Line("`make eval`, nothing cached", "≤ 10 s", short.seconds, short.wall_s <= 10)
    yield with_floor(cold, forget(scene), "run", "prompts")
    yield Line(
        "the same on the plain path (EVALS_PLAIN_REPLAY=1)",
        "",
        f"{plain.seconds}; {plain.cpu_s / short.cpu_s:.1f} times the processor",
        None,
    )
    unchanged = evals(again(scene, cached), "run", "prompts")
    warm = Line("`make eval`, unchanged", "≤ 1.5 s", unchanged.seconds, unchanged.wall_s <= 1.5)
    yield with_floor(warm, scene, "run", "prompts")
    scene = a_scene(folder / "edited")
    suite = _edited(scene)
    cached = remembered(scene)
    edited = evals(scene, "run", suite)
    line = Line("one prompt of three edited and re-recorded", "≤ 5 s", edited.seconds, edited.wall_s <= 5)
    yield with_floor(line, again(scene, cached), "run", suite)


def _edited(scene: Path) -> str:
    """v3 is run as the checkout's own prompt before its text becomes that of v5; what v5 alone asks is recorded then.

    A new answer changes the cassette of every case, as it does where an endpoint gives it. The suite to be run then.
    """
    shutil.copy(PROMPTS / "v3.md", scene / "mine.md")
    names = [{"name": "v1", "prompt": "v1"}, {"name": "v2", "prompt": "v2"}, {"name": "mine", "prompt": "mine.md"}]
    suite = str(a_suite(scene, "edited", {}, names))
    whole = {path: path.read_bytes() for path in (scene / "cassettes").glob("*.yaml")}
    with chdir(scene):
        asked = asked_for(replay(selected(suite, scene, Options()), jobs=2).traces)
    for path in whole:
        used, _ = split_by_use(load(path), asked.get(path.stem, set()))
        path.write_text(rendered(Cassette(path, used)), encoding="utf-8")
    evals(scene, "run", suite)
    shutil.copy(PROMPTS / "v5.md", scene / "mine.md")
    for path, content in whole.items():
        path.write_bytes(content)
    return suite

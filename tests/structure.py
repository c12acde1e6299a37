"""Structure of the source code in numbers: `python -m tests.structure [ROOT]` prints them as a Markdown table.

`python -m tests.structure --entered SUITE` replays a suite in one process, first `--fresh`, then unchanged, and prints
how many files of both packages each run enters.

Counted are the Python files below `evals/` and `triage/`. Limits that must not be passed are in
`tests/workshop/test_structure.py`.
"""

import ast
import re
import statistics
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import FrameType
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("evals", "triage")
PACK: Final = "evals/triage/"
EXTRAS: Final = ("evals/langsmith/", "evals/otlp/", "evals/runner/dask_cluster.py")
LATER: Final = (
    "evals/analysis/comparable_answers.py",
    "evals/analysis/hunk_effects.py",
    "evals/analysis/noise.py",
    "evals/cli/attribute_command.py",
    "evals/cli/decision_points_command.py",
    "evals/cli/next_watch_round.py",
    "evals/comparison/curtailment.py",
    "evals/comparison/stored_side.py",
    "evals/import_limits.py",
    "evals/imported_files.py",
    "evals/llm_judge/attacks.py",
    "evals/models/forced_decision.py",
    "evals/pipeline/attribute_hunks.py",
    "evals/pipeline/decisive_step.py",
    "evals/pipeline/optimize_prompts.py",
    "evals/pipeline/record_until_verdict.py",
    "evals/pipeline/read_sides.py",
    "evals/plugin/replay_fixture.py",
    "evals/plugin/target_fixtures.py",
    "evals/prompt_hunks.py",
    "evals/recording/failed_trials.py",
    "evals/recording/unusable_answers.py",
    "evals/report/recorded_calls.py",
    "evals/report/view/attribution_page.py",
    "evals/report/view/noise_table.py",
    "evals/external_results.py",
    "evals/routes/labelled_choices.py",
    "evals/target/frozen_decision_points.py",
    "evals/target/forced_choices.py",
    "evals/target/key_placeholders.py",
    "evals/target/store_index.py",
    "evals/target/target_judge.py",
    "evals/target/sdk_shortcut.py",
    "evals/triage/dataset/fix_lines.py",
)
"""Features that came after the limit on lines was set: result files of other tools, any two runs, noise, raw answers in
the report, decision points and a rubric for any graph, attribution to hunks of a prompt, decisive steps, an optimiser,
lines of a fix, a process that waits for the next round,
placeholders for API keys. They are counted apart."""
SMALL: Final = 60
"""Lines below which a file counts as small."""
TRACED_OPTION: Final = "trial_timeout"
"""The option of `evals run` whose way through the code is measured."""
REGISTRIES: Final = {"evals.scoring.registry", "evals.cli.main"}
"""Modules that import siblings only to list them in a table."""


@dataclass(frozen=True)
class SourceFile:
    """One Python file: its path below the root, and its text."""

    path: str
    text: str

    @cached_property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def basename(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_init(self) -> bool:
        return self.basename == "__init__.py"


def source_files(root: Path = ROOT) -> list[SourceFile]:
    """Every Python file of both packages, by path."""
    paths = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    return [SourceFile(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def shared_basenames(files: list[SourceFile]) -> list[str]:
    """Paths of files that share their name with another file; `__init__.py` and `__main__.py` have to."""
    named = [each for each in files if each.basename not in {"__init__.py", "__main__.py"}]
    counts = Counter(each.basename for each in named)
    return [each.path for each in named if counts[each.basename] > 1]


def duplicate_classes(files: list[SourceFile]) -> dict[str, list[str]]:
    """Name of a public top-level class -> the files that define it, where there are several."""
    places: dict[str, list[str]] = {}
    for each in files:
        for node in each.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(each.path)
    return {name: paths for name, paths in sorted(places.items()) if len(paths) > 1}


def importers(files: list[SourceFile]) -> dict[str, set[str]]:
    """Module -> the modules of both packages that import it or a name of it."""
    modules = {each.module for each in files}
    found: dict[str, set[str]] = {module: set() for module in modules}
    for each in files:
        for name in _imported(each.tree):
            target = name if name in modules else name.rpartition(".")[0]
            if target in modules and target != each.module:
                found[target].add(each.module)
    return found


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def with_one_importer(files: list[SourceFile]) -> list[str]:
    """Modules that one module imports; without packages, and without those that a registry lists."""
    known = importers(files)
    plain = [each.module for each in files if not each.is_init]
    return [module for module in plain if len(known[module]) == 1 and not known[module] & REGISTRIES]


def parameters_of(option: str, files: list[SourceFile]) -> dict[str, int]:
    """Function that takes the parameter `option` -> how many parameters it takes in all."""
    found = {}
    for each in files:
        for node in ast.walk(each.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                if option in names:
                    found[f"{each.module}.{node.name}"] = len(names)
    return found


def commands_and_options() -> tuple[int, int]:
    """Commands of `evals` that do something, and their options together, those of `evals` itself included."""
    from typer.main import get_command

    from evals.cli.main import all_commands, command_line

    known = all_commands()
    left, commands, options = [get_command(command_line(known, *known))], 0, 0
    while left:
        command = left.pop()
        below = getattr(command, "commands", {})
        left += below.values()
        commands += not below
        options += sum(1 for param in command.params if param.param_type_name == "option" and param.name != "help")
    return commands, options


def entered(work: Callable[[], object], root: Path = ROOT) -> set[str]:
    """The files of both packages of which `work` calls a function; calls made by an import are left out."""
    places = tuple(f"{root / package}/" for package in PACKAGES)
    found: set[str] = set()
    importing = threading.local()

    def heard(frame: FrameType, event: str, _: object) -> None:
        if frame.f_code.co_name == "<module>" and event in ("call", "return"):
            importing.depth = getattr(importing, "depth", 0) + (1 if event == "call" else -1)
        elif event == "call" and not getattr(importing, "depth", 0) and frame.f_code.co_filename.startswith(places):
            found.add(Path(frame.f_code.co_filename).relative_to(root).as_posix())

    threading.setprofile(heard)
    sys.setprofile(heard)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def dependencies(root: Path = ROOT) -> int:
    """Runtime dependencies of the core."""
    return len(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"])


def make_targets(root: Path = ROOT) -> list[str]:
    """Targets that `make help` lists."""
    return re.findall(r"^([a-z-]+):.*## ", (root / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


def table(root: Path = ROOT) -> list[tuple[str, str]]:
    """What is measured, and its value, in the order of the printed table."""
    files = source_files(root)
    core = [each for each in files if each.path.startswith("evals/") and not each.path.startswith((PACK, *EXTRAS))]
    sizes = [each.lines for each in files]
    longest = max(files, key=lambda each: each.lines)
    taking = parameters_of(TRACED_OPTION, files)
    rows = [
        ("lines; files", f"{sum(sizes):,}; {len(files)}"),
        ("of these lines: features added since the limit", f"{_total(added_since(files)):,}"),
        ("lines; files of the core (evals/ without pack and extras)", f"{_total(core):,}; {len(core)}"),
        ("median file; longest file", f"{statistics.median(sizes):.0f}; {longest.lines} ({longest.path})"),
        ("files that share a basename with another", f"{len(shared_basenames(files))}"),
        ("public class names defined more than once", f"{len(duplicate_classes(files))}"),
        (
            f"files under {SMALL} lines; files with one importer",
            f"{sum(not each.is_init and each.lines < SMALL for each in files)}; {len(with_one_importer(files))}",
        ),
        (f"files that name `{TRACED_OPTION}`", f"{sum(TRACED_OPTION in each.text for each in files)}"),
        (
            f"functions that take `{TRACED_OPTION}`; most parameters of one",
            f"{len(taking)}; {max(taking.values(), default=0)}",
        ),
        ("runtime dependencies of the core", f"{dependencies(root)}"),
        ("make targets", f"{len(make_targets(root))}"),
    ]
    if root == ROOT:  # the commands of another checkout cannot be imported beside these
        rows.append(("commands; options", "{}; {}".format(*commands_and_options())))
    return rows


def added_since(files: list[SourceFile]) -> list[SourceFile]:
    """Those of features that came after the limit on lines was set."""
    return [each for each in files if each.path.startswith(LATER)]


def _total(files: list[SourceFile]) -> int:
    return sum(each.lines for each in files)


def main(*words: str) -> int:
    """Print the table for this checkout, or for the one at the path given; or the files that a run enters."""
    if len(words) == 2 and words[0] == "--entered":
        from evals.cli.main import main as evals

        with tempfile.TemporaryDirectory() as out:
            run = ["run", words[1], "--jobs", "1", "--out", out]
            fresh, unchanged = (len(entered(partial(evals, [*run, *more]))) for more in (["--fresh"], []))
        print(f"files entered by `evals run {words[1]} --jobs 1`: {fresh} fresh, {unchanged} unchanged")
        return 0
    if len(words) > 1 or (words and not all((Path(words[0]) / name).is_dir() for name in PACKAGES)):
        print(
            "usage: python -m tests.structure [ROOT of a checkout with evals/ and triage/ | --entered SUITE]",
            file=sys.stderr,
        )
        return 2
    print("| measured | value |\n|---|---|")
    for name, value in table(Path(words[0]).resolve() if words else ROOT):
        print(f"| {name} | {value} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

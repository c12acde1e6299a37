"""Checks of codebases and the offline web; proofs of labels: the patch applies, the reproduction shows the bug."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Final, NamedTuple

from evals.errors import DatasetError
from evals.models.case import Case
from evals.safe_yaml import line_of, read_text
from evals.triage.dataset.case_code import ABOUT, load_codebase
from evals.triage.dataset.checks.text_checks import at_case, at_label, foreign_imports, line_at, modules_of, unfit_lines
from evals.triage.dataset.dataset_layout import Gold
from evals.triage.dataset.derive_gold import derive_gold
from evals.triage.dataset.lint_types import Complaint, Corpus, LintedCase, Package
from evals.triage.dataset.web_search_server import WebPage, read_page

TIMEOUT_S: Final = 20


class ProcessResult(NamedTuple):
    """How a process ended; `code` is None if it had to be stopped."""

    code: int | None
    stderr: str

    @property
    def said(self) -> str:
        """The end of what was said, on one line: the exception, or unittest's count and result."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        return " | ".join(lines[-3:])


def run_python(tree: Path, *arguments: Path | str, seed: int = 0, bare: bool = False) -> ProcessResult:
    """Runs Python with a throw-away copy of `tree` as working directory and import path; `seed` orders its sets.

    Whatever the code writes vanishes with the copy: the tree the agents read stays as it was built. A `bare` one finds
    no installed library, and starts in a third of the time.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(tree, Path(scratch) / "tree")
        command = [
            sys.executable,
            *(["-S"] if bare else []),
            *(str(each.resolve() if isinstance(each, Path) else each) for each in arguments),
        ]
        return _ended(command, copy, _environment(copy, seed), TIMEOUT_S)


def _ended(command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout_s: float) -> ProcessResult:
    """How a process in `folder` ended."""
    try:
        done = subprocess.run(  # noqa: S603 -- our own interpreter on code of our own dataset
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ProcessResult(None, "")
    return ProcessResult(done.returncode, done.stderr)


PATIENCE_S: Final = 60
"""For code of released packages, which may be large, and is compiled by whoever imports it first."""


def run_apart(script: Path, folders: Iterable[Path], environment: Mapping[str, str], *, seed: int = 0) -> ProcessResult:
    """Runs a script that can import from these folders and the standard library alone, in an empty folder of its own.

    The time zone is UTC and the home empty unless `environment` says otherwise: nothing of this machine decides.
    Runs of this process share bytecode: a case is run half a dozen times over the same two releases.
    """
    with tempfile.TemporaryDirectory() as scratch:
        path = os.pathsep.join(str(folder.resolve()) for folder in folders)
        ours = {"PYTHONPATH": path, "HOME": scratch, "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        ours |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(_bytecode())}
        command = [sys.executable, "-S", "-P", str(script.resolve())]
        given = _environment(Path(path), seed) | ours | dict(environment)
        return _ended(command, Path(scratch), given, PATIENCE_S)


@contextmanager
def copied(tree: Path, changed: Iterable[str]) -> Iterator[Path]:
    """A throw-away copy of `tree`, for files of these names in it to be changed. What runs of this process compiled of
    the tree serves the copy as well: Python goes by a source's time and size, which a file that is changed within a
    second may even keep, so of those nothing is taken over.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(tree, Path(scratch).resolve() / "tree")
        compiled, known = _compiled_of(copy), _compiled_of(tree)
        if known.is_dir():
            shutil.copytree(known, compiled)
        for name in map(Path, changed):
            for stale in (compiled / name.parent).glob(f"{name.stem}.*.pyc"):
                stale.unlink()
        try:
            yield copy
        finally:
            shutil.rmtree(compiled, ignore_errors=True)


def _compiled_of(folder: Path) -> Path:
    resolved = folder.resolve()
    return _bytecode() / resolved.relative_to(resolved.anchor)


@cache
def _bytecode() -> Path:
    """A folder that goes with this process, a worker of a pool or not: beside the sources, nobody would check it."""
    folder = Path(tempfile.mkdtemp(prefix="bytecode-"))
    Finalize(None, shutil.rmtree, args=(folder, True), exitpriority=0)
    return folder


def _environment(tree: Path, seed: int) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ}
    roots = [str(tree), *([str(tree / "src")] if (tree / "src").is_dir() else [])]
    ours = {
        "PYTHONPATH": os.pathsep.join(roots),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str(seed),
        "PYTHONUTF8": "1",
    }
    return kept | ours


HASH_SEEDS: Final = (0, 1)


def patch_and_repro_exist(subject: LintedCase) -> Iterator[Complaint]:
    """A code bug brings a patch and a repro; a case in which no code is to blame brings neither."""
    category = subject.case.labels.category
    proofs = {
        subject.layout.patch(subject.id): subject.patch,
        subject.layout.repro(subject.id): subject.repro,
    }
    # a duplicate may have its original's proof, but then the whole of it
    needed = category == "code" or (category == "duplicate" and any(proofs.values()))
    for path, found in proofs.items():
        if needed and found is None:
            yield Complaint(f"is missing; this case of category `{category}` is proved by a patch and a repro", path)
        if not needed and found is not None:
            yield Complaint(f"is here although the category is `{category}`; remove it", path)


def patch_applies(subject: LintedCase) -> Iterator[Complaint]:
    """`git apply` takes the patch, and what comes out is Python that parses."""
    try:
        tree = subject.patched
    except DatasetError as error:
        message = str(error).removeprefix(f"{subject.patch}: ")
        yield Complaint(message, subject.layout.patch(subject.id), _line_in_patch(subject, message))
        return
    for file in sorted(tree.rglob("*.py")):
        try:
            ast.parse(file.read_bytes())
        except (SyntaxError, ValueError) as error:
            name = file.relative_to(tree).as_posix()
            message, line = f"leaves {name} unparsable: {error}", _line_in_patch(subject, f"{name}:")
            yield Complaint(message, subject.layout.patch(subject.id), line)


def patch_changes_the_package(subject: LintedCase) -> Iterator[Complaint]:
    """A bug is in the package's own Python files: not in its tests, which would tell, nor in its texts."""
    if subject.patch is None:
        return
    text = subject.patch.read_text(encoding="utf-8", errors="replace")
    for match in re.finditer(r"^(?:---|\+\+\+) [ab]/(.+)$", text, re.MULTILINE):
        name = match.group(1)
        if not (name.startswith(f"{subject.case.labels.codebase}/") and name.endswith(".py")):
            yield Complaint(
                f"changes {name!r}, which is no module of the package", subject.patch, line_at(text, match.start())
            )
            return


def repro_needs_no_library(subject: LintedCase) -> Iterator[Complaint]:
    """`repro.py` imports the codebase and the standard library, nothing else."""
    if subject.repro is not None and _buildable(subject):
        yield from foreign_imports(subject.repro, modules_of(subject.clean))


def repro_proves_the_bug(subject: LintedCase) -> Iterator[Complaint]:
    """`repro.py` fails on the patched tree and passes on the clean one, each within its time and whatever the order in
    which sets come out."""
    repro = subject.repro
    if repro is None or not (subject.patch or subject.from_git) or not _buildable(subject):
        return
    for seed in HASH_SEEDS:
        with_bug, without = (
            run_python(tree, repro, seed=seed, bare=not subject.from_git) for tree in (subject.patched, subject.clean)
        )
        if with_bug.code == 0:
            yield Complaint("passes although the bug is in; make it fail on what the issue reports", repro)
        if without.code not in (0, None):
            yield Complaint(f"fails without the bug: {without.said}", repro, _line_in_repro(without, repro))
        if with_bug.code is None or without.code is None:
            yield Complaint(f"did not end within {TIMEOUT_S} s; a repro must fail, not hang", repro)
        if with_bug.code in (0, None) or without.code != 0:
            return


def gold_is_derived(subject: LintedCase) -> Iterator[Complaint]:
    """The gold in `case.yaml` is what `derive_gold` reads off the patch, and empty where there is no patch."""
    if not _buildable(subject):
        return
    gold = subject.case.labels.gold
    try:
        derived = derive_gold(subject.clean, subject.patched) if subject.patch else Gold()
    except SyntaxError:
        return  # `patch_applies` says so
    for kind, labelled, found in (
        ("files", gold.files, derived.files),
        ("functions", gold.functions, derived.functions),
    ):
        if sorted(labelled) != sorted(found):
            message = f"gold.{kind} is {list(labelled)}, the patch says {list(found)}"
            yield at_label(subject, message, "gold", kind)
    for index, path in enumerate(subject.case.labels.alternatives.files):
        if not (subject.patched / path).is_file():
            message = f"alternatives name {path!r}, which is not in the codebase"
            yield at_label(subject, message, "alternatives", "files", index)


def _buildable(subject: LintedCase) -> bool:
    try:
        return subject.patched.is_dir() and subject.clean.is_dir()
    except DatasetError:
        return False  # `patch_applies` says so


def _line_in_patch(subject: LintedCase, message: str) -> int:
    """The line of the patch that a complaint is about: it names a line of the patch, or a place in a file."""
    text = subject.layout.patch(subject.id).read_text(encoding="utf-8", errors="replace")
    counted = re.search(r"patch at (?:.*:|line )(\d+)", message)
    if counted:
        return max(1, min(int(counted.group(1)), len(text.splitlines())))  # git counts the line that is missing too
    place = re.search(r"([\w./-]+\.\w+):(\d*)", message)
    file = place and re.search(rf"^\+\+\+ b/{re.escape(place.group(1))}$", text, re.MULTILINE)
    if not place or not file:
        return 1
    hunk = re.compile(rf"^@@ -{place.group(2)}\b", re.MULTILINE).search(text, file.end()) if place.group(2) else None
    return line_at(text, (hunk or file).start())


def _line_in_repro(run: ProcessResult, repro: Path) -> int:
    """The last line of the repro that its traceback goes through."""
    lines = re.findall(rf'File "[^"]*{re.escape(repro.name)}", line (\d+)', run.stderr)
    return int(lines[-1]) if lines else 1


MODULES: Final = range(8, 21)  # fewer, and there is nothing to search; more, and nobody reads it
LINES: Final = range(800, 2001)
TEXTS: Final = frozenset({".py", ".md", ".toml", ".yaml", ".txt", ".cfg", ".ini"})


def codebase_is_described(package: Package) -> Iterator[Complaint]:
    """`codebase.yaml` says what it is and where it is hosted, under its own name; a README introduces it."""
    about = package.folder / ABOUT
    try:
        repository = load_codebase(package.folder).repository
    except DatasetError as error:
        path, _, message = str(error).partition(": ")
        line = path.removeprefix(f"{about}").strip(":")
        yield Complaint(message, about, int(line) if line.isdigit() else 1)
        return
    if repository.partition("/")[2] != package.id:
        message = f"is hosted as {repository!r}, but its folder is {package.id!r}; make them one"
        yield Complaint(message, about, line_of(about, "repository"))
    if not (package.folder / "README.md").is_file():
        yield Complaint("is missing; agents and people look there first", package.folder / "README.md")


def codebase_has_its_size(package: Package) -> Iterator[Complaint]:
    """The package of the codebase's name has 8 to 20 modules, `__init__.py` not counted, with 800 to 2,000 lines."""
    modules = [path for path in sorted(package.sources.rglob("*.py")) if path.name != "__init__.py"]
    lines = sum(len(read_text(path).splitlines()) for path in modules)
    for count, unit, allowed in ((len(modules), "modules", MODULES), (lines, "lines", LINES)):
        if count not in allowed:
            message = f"has {count} {unit}; a codebase has {allowed[0]} to {allowed[-1]}"
            yield Complaint(message, package.sources)


def codebase_needs_no_library(package: Package) -> Iterator[Complaint]:
    """Package and tests import each other and the standard library, nothing else."""
    tests = package.folder / "tests"
    beside = frozenset(path.stem for path in tests.glob("*.py"))
    for path in sorted(package.folder.rglob("*.py")):
        own = modules_of(package.folder) | (beside if tests in path.parents else frozenset())
        yield from foreign_imports(path, own)


def codebase_is_fit_to_publish(package: Package) -> Iterator[Complaint]:
    """No secret, no address outside example.com, no package registry in any of its files."""
    for path in sorted(package.folder.rglob("*")):
        if path.suffix in TEXTS and "__pycache__" not in path.parts:
            yield from unfit_lines(path)


def codebase_tests_pass(package: Package) -> Iterator[Complaint]:
    """Its own tests exist and pass (`python -m unittest discover -s tests`)."""
    run = run_python(package.clean, "-m", "unittest", "discover", "-s", "tests", bare=True)
    tests = package.folder / "tests"
    if run.code is None:
        yield Complaint(f"its tests did not end within {TIMEOUT_S} s", tests)
    elif not re.search(r"Ran [1-9]\d* test", run.said):
        yield Complaint("has no tests that `python -m unittest discover -s tests` finds", tests)
    elif run.code != 0:
        yield Complaint(f"its own tests fail: {run.said}", tests)


MIN_PAGES: Final = 4  # one that answers, three that only look as if they did


def web_pages_exist(corpus: Corpus) -> Iterator[Complaint]:
    """Every page a case names stands in the offline web, and is named once."""
    for case in corpus.cases.values():
        for index, page in enumerate(case.labels.web):
            if not corpus.layout.page(page).is_file():
                yield at_case(corpus, case, f"there is no page {page!r} in the offline web", "web", index)
            if page in case.labels.web[:index]:
                yield at_case(corpus, case, f"the page {page!r} is listed twice", "web", index)


def web_cases_have_distractors(corpus: Corpus) -> Iterator[Complaint]:
    """A case that has to be looked up in the web names at least four pages: a search that finds one page finds it
    by any query."""
    for case in corpus.cases.values():
        if _has_to_search(case) and len(case.labels.web) < MIN_PAGES:
            message = f"has to be searched in the web, but names {len(case.labels.web)} pages; {MIN_PAGES} are needed"
            yield at_case(corpus, case, message, "web")


def pages_are_well_formed(corpus: Corpus) -> Iterator[Complaint]:
    """Every page has front matter that says where it stands, and no two stand at one address."""
    seen: dict[str, Path] = {}
    for path, page in _pages(corpus):
        if isinstance(page, DatasetError):
            message = str(page).removeprefix(f"{path}:")
            line, _, said = message.partition(": ")
            yield Complaint(said, path, int(line))
        elif seen.setdefault(page.about.url, path) != path:
            yield Complaint(f"has the address of {seen[page.about.url].stem}", path, _line(path, "url:"))


def pages_reach_their_cases(corpus: Corpus) -> Iterator[Complaint]:
    """A page that only some cases can find names cases there are; every case can find the pages it names; and a page
    with a canary can be found by its own case alone, or twins and strangers would meet the injection too."""
    for path, page in _pages(corpus):
        if isinstance(page, DatasetError):
            continue  # `pages_are_well_formed` says so
        only_for = page.about.only_for
        for name in (name for name in only_for if not corpus.layout.labels(name).exists()):
            yield Complaint(f"is only for {name!r}, which is no case", path, _line(path, "only_for:"))
        for case in corpus.cases.values():
            if path.stem in case.labels.web and only_for and case.id not in only_for:
                message = f"the page {path.stem!r} cannot be found by this case (see its `only_for`)"
                yield at_case(corpus, case, message, "web", case.labels.web.index(path.stem))
            if case.labels.canary and case.labels.canary in page.body and only_for != (case.id,):
                message = f"holds the canary of {case.id}; say `only_for: [{case.id}]`"
                yield Complaint(message, path, _line(path, case.labels.canary), case.id)


def pages_are_fit_to_publish(corpus: Corpus) -> Iterator[Complaint]:
    """No secret, no address outside example.com, no package registry in any page."""
    for path in sorted(corpus.layout.web.glob("*.md")):
        yield from unfit_lines(path)


def _pages(corpus: Corpus) -> Iterator[tuple[Path, WebPage | DatasetError]]:
    for path in sorted(corpus.layout.web.glob("*.md")):
        try:
            yield path, read_page(path)
        except DatasetError as error:
            yield path, error


def _line(path: Path, words: str) -> int:
    """The first line that holds `words`."""
    text = read_text(path)
    return line_at(text, max(0, text.find(words)))


def _has_to_search(case: Case) -> bool:
    return all(
        any(rule.type == "existence" and rule.a == ("web_search",) and rule.min for rule in label.constraints)
        for label in case.labels.route
    )

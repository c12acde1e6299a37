"""Foreign repositories with planted fixes, made on the spot by real git: three projects, a bug and its fix in each."""

from collections.abc import Mapping
from pathlib import Path

from tests.builders.git import git

Tree = Mapping[str, str | bytes | None]
"""What a commit writes, by path; None removes a file."""

CART = '''class Cart:
    """What a customer has taken."""

    def __init__(self, prices):
        self.prices = list(prices)

    def total(self):
        return sum(self.prices{slice})


def receipt(cart):
    return f"to pay: {{cart.total()}}"
'''
SHOP: tuple[Tree, Tree] = (
    {
        "shop/cart.py": CART.format(slice="[1:]"),
        "shop/tax.py": "RATE = 0.2\n\n\ndef with_tax(price):\n    return price * (1 + RATE)\n",
        "tests/test_cart.py": "def test_total():\n    assert 'the first price counts'\n",
        "docs/usage.md": "Take a cart.\n",
        "CHANGELOG.md": "## 1.0\n",
    },
    {
        "shop/cart.py": CART.format(slice=""),
        "tests/test_cart.py": "def test_total():\n    assert 'the first price counts, always'\n",
        "docs/usage.md": "Take a cart, whole.\n",
        "CHANGELOG.md": "## 1.1\n- The first price counts.\n",
    },
)
LOADER = "def load(path):\n    with open(path) as file:\n        return parse(file.read()){end}\n\n\n{rest}"
PARSE = "def parse(text):\n    return dict(line.split('=') for line in text.split())\n"
RENAMED: tuple[Tree, Tree] = (
    {"src/settings/reader.py": LOADER.format(end="", rest=PARSE), "src/settings/__init__.py": ""},
    {"src/settings/reader.py": None, "src/settings/loading.py": LOADER.format(end=" or {}", rest=PARSE)},
)
"""The fix moves the file it mends."""
QUEUE = """class Queue:
    def __init__(self):
        self.items = []

    def put(self, item):
        self.items.append(item)
{twice}
    def take(self):
        return self.items.pop(0)
"""
DELETED: tuple[Tree, Tree] = (
    {
        "jobs/queue.py": QUEUE.format(twice="        self.items.append(item)\n"),
        "jobs/old.py": "def unused():\n    pass\n",
    },
    {"jobs/queue.py": QUEUE.format(twice=""), "jobs/old.py": None},
)
"""The fix adds no line at all, and removes a file."""


def a_history(folder: Path, *states: Tree, origin: str = "") -> list[str]:
    """A repository in `folder` with one commit per state, each upon the last; their hashes."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "core.autocrlf", "false")
    if origin:
        git(folder, "remote", "add", "origin", origin)
    return [a_commit(folder, state) for state in states]


def a_commit(folder: Path, state: Tree) -> str:
    """The files of `state` written and committed; the commit's hash."""
    for path, content in state.items():
        place = folder / path
        if content is None:
            place.unlink()
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    told(folder, "add", "--all", "--force")
    told(folder, "commit", "--quiet", "--allow-empty", "--message", "a step")
    return told(folder, "rev-parse", "HEAD")


def told(folder: Path, *words: str) -> str:
    """What git says; it must not fail."""
    done = git(folder, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def a_patch(folder: Path, before: str, after: str, *paths: str) -> str:
    """The diff between two commits, as a row of a benchmark has it."""
    return git(folder, "diff", "-M", before, after, "--", *paths).stdout


def copied(folder: Path, place: Path, *options: str) -> Path:
    """A clone of `folder` at `place`: `--bare`, `--mirror`, `--depth 1`, and so on."""
    place.parent.mkdir(parents=True, exist_ok=True)
    told(folder, "clone", "--quiet", "--no-local", *options, folder.resolve().as_uri(), str(place))
    return place


PROJECTS: Mapping[str, tuple[tuple[Tree, Tree], str, str]] = {
    "example/shop": (SHOP, "Totals are too small\n\nTwo books cost as much as one.\n", "shop/cart.py::Cart.total"),
    "example/settings": (RENAMED, "An empty file is no settings\n\nI get None where I want a mapping.\n", ""),
    "example/jobs": (DELETED, "Each job runs twice\n\nSince the last release.\n", "jobs/queue.py::Queue.put"),
}
"""By repository: its two states, what its user writes, and the method the fix is in, where that shows in the patch."""


def the_rows(repos: Path) -> list[dict[str, object]]:
    """Three rows of SWE-bench, one per project, whose clones stand below `repos` in three ways: a checkout, a bare
    mirror, and a checkout in its owner's folder that stands at another commit."""
    rows = []
    for number, (repository, (states, issue, _)) in enumerate(PROJECTS.items()):
        owner, _, name = repository.partition("/")
        folder = repos / (name if number == 0 else f".made-{name}" if number == 1 else f"{owner}/{name}")
        base, fix = a_history(folder, *states)
        if number == 1:
            copied(folder, repos / f"{owner}__{name}.git", "--mirror")
        if number == 2:
            told(folder, "checkout", "--quiet", "--detach", base)
        rows.append(
            {
                "instance_id": f"{owner}__{name}-{number}",
                "repo": repository,
                "base_commit": base,
                "patch": a_patch(folder, base, fix, ".", ":!tests", ":!docs", ":!*.md"),
                "test_patch": a_patch(folder, base, fix, "tests"),
                "problem_statement": issue,
            }
        )
    return rows

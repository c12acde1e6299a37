"""What a stranger's checkout, host or endpoint may bring along: programs in the settings of git, links out of the
checkout, keys that are repeated, and numbers that cannot be.
"""

import contextlib
import io
import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar
from unittest.mock import patch

from rich.console import Console

from evals.analysis.blessed_commits import HistoryRepository
from evals.cassettes.cassette_schema import MAX_MODEL, MAX_TOKENS, MAX_WORD
from evals.cassettes.live_answer import HttpReply, usable
from evals.errors import RecordingError
from evals.prompt_versions import PromptRevision, changed_lines
from evals.recording.endpoint import git_user
from evals.shared.secrets.rule import release
from evals.triage.dataset.case_code import Commits
from evals.triage.dataset.new_case import fixed_bug
from evals.triage.dataset.repository_clones import Clones, clone_at
from evals.triage.imported_jobs import code_at
from evals.triage.pack import PACK
from tests.builders.git import git as plain_git
from tests.builders.github import a_github
from tests.builders.hostile_git import a_hostile_checkout, ran
from tests.builders.interaction import a_chat_answer, an_asked
from tests.builders.llm_server import Answered, an_llm_server, answering
from tests.chaos.row import Row
from triage.cli import main as triage
from triage.codebase.checkout_index import revision_of
from triage.codebase.source_files import source_files, survey

Each = TypeVar("Each")
PRIVATE: Final = "THE_PRIVATE_LINE"
KEY: Final = "ghost-of-" + "a-key-0123456789"
USES: Final[dict[str, Callable[[Path, Path], object]]] = {
    "triage run": lambda root, folder: _job(root, folder / "desk"),
    "its revision": lambda root, _: revision_of(root),
    "its files": lambda root, _: survey(root),
    "a case's code": lambda root, _: code_at(root, _head(root)),
    "history": lambda root, _: HistoryRepository.at(root).commits("cart.py"),
    "an uncommitted file": lambda root, _: HistoryRepository.at(root).uncommitted("cart.py"),
    "contents": lambda root, _: list(HistoryRepository.at(root).contents([f"{_head(root)}:cart.py"])),
    "a prompt of a revision": lambda root, _: PromptRevision("HEAD", "prompt.md").read(root),
    "changed lines": lambda root, _: changed_lines([], root, "HEAD~1", PACK),
    "the user's name": lambda root, _: git_user(root),
    "a fix": lambda root, _: fixed_bug(clone_at(root), "side", "shop/carts"),
    "a commit": lambda root, folder: Commits.below(folder).take(clone_at(root), _head(root)),
    "a clone": lambda root, _: Clones(root.parent).holding(f"{root.parent.name}/{root.name}", _head(root)),
}
"""What this project does with a checkout that is a stranger's, by name."""
LINKS: Final[dict[str, Callable[[Path, Path], object]]] = {
    "a file": lambda root, private: (root / "link.py").symlink_to(private / "secret.py"),
    "a folder": lambda root, private: (root / "link").symlink_to(private / "part"),
    "a repository": lambda root, private: (root / "link").symlink_to(private),
    "a repository, relative": lambda root, private: (root / "link").symlink_to(os.path.relpath(private, root)),
    "a link to a link": lambda root, private: (
        (root / "one").symlink_to("two"),
        (root / "two").symlink_to(private),
    ),
    "a folder of the index": lambda root, private: (
        (root / "part" / "secret.py").unlink(),
        (root / "part").rmdir(),
        (root / "part").symlink_to(private / "part"),
    ),
    "a linked .git": lambda root, private: (_module(root) / ".git").symlink_to(private / ".git"),
    "a .git that points": lambda root, private: (_module(root) / ".git").write_text(f"gitdir: {private / '.git'}\n"),
    "a loop": lambda root, _: (root / "loop").symlink_to("."),
    "two loops": lambda root, _: ((root / "a").symlink_to("."), (root / "b").symlink_to(".")),
    "a loop of two": lambda root, _: ((root / "a").symlink_to("b"), (root / "b").symlink_to("a")),
}
"""Ways out of a checkout, and ways to make it endless, by name."""
ODD: Final[tuple[dict[str, Any], ...]] = (
    *({name: "x" * (limit + 1)} for name, limit in {"model": MAX_MODEL, "id": MAX_WORD}.items()),
    {"model": "x" * 1_000_000},
    *({"usage": {name: count}} for name in ("prompt_tokens", "completion_tokens", "total_tokens")
      for count in (-1, 1.5, "7", True, [], MAX_TOKENS + 1, 10**30)),
)  # fmt: skip
"""What no answer can say of itself."""


def rows(folder: Path, share: float, seed: int) -> list[Row]:
    """A part of each list, drawn by the seed."""
    chance = random.Random(seed)  # noqa: S311 - no secret is drawn
    uses, links = _some(list(USES), share, chance), _some(list(LINKS), share, chance)
    echoes = _some([(status, key) for status in (401, 403, 404, 422, 500, 503) for key in _spelled()], share, chance)
    odd = _some(ODD, share, chance)
    return [
        Row("programs that a checkout's settings name: started", len(uses), sum(_starts(folder, use) for use in uses)),
        Row("links out of a checkout: followed", len(links) * 2, sum(_followed(folder, link) for link in links)),
        Row("keys that a host or an endpoint repeats: printed", len(echoes) * 2, sum(_echoed(folder, echoes))),
        Row("answers that say of themselves what cannot be: kept", len(odd), sum(_is_kept(said) for said in odd)),
    ]


def _some(found: Sequence[Each], share: float, chance: random.Random) -> list[Each]:
    return chance.sample(list(found), max(1, round(len(found) * share)))


def _starts(folder: Path, use: str) -> bool:
    place = folder / "hostile" / use.replace(" ", "-").replace("'", "")
    root = a_hostile_checkout(place / "shop", place / "markers")
    try:
        USES[use](root, place / "cache")
    finally:
        started = ran(place / "markers")
    return bool(started)


def _followed(folder: Path, link: str) -> int:
    """How many of the two ways to list files read what is private, or a file twice."""
    place = folder / "links" / link.replace(" ", "-")
    private, root = _repository(place / "private", PRIVATE), _repository(place / "shop", "public = 1")
    LINKS[link](root, private)
    listings = (dict(survey(root).texts), dict(source_files(root)))
    return sum(PRIVATE in " ".join(texts.values()) or len(texts) > 2 for texts in listings)


def _repository(root: Path, line: str) -> Path:
    (root / "part").mkdir(parents=True)
    for name in ("secret.py", "part/secret.py"):
        (root / name).write_text(f"{line}\n", encoding="utf-8")
    plain_git(root, "init", "--quiet")
    plain_git(root, "add", ".")
    return root


def _module(root: Path) -> Path:
    """An empty folder in the checkout: what git lists there would be of another repository."""
    (module := root / "module").mkdir()
    return module


def _spelled() -> tuple[str, ...]:
    return KEY, KEY[::-1], KEY.encode().hex(), f"Bearer {KEY}", f"{'x' * 50}{KEY}"


def _echoed(folder: Path, echoes: Sequence[tuple[int, str]]) -> Iterator[bool]:
    """Of the host of an issue, and of the endpoint."""
    for status, key in echoes:
        said = json.dumps({"message": key, "error": {"message": key}}).encode()
        with a_github() as host, _desk(folder / "echo", {"GITHUB_API_URL": host.url}) as told:
            host.refuse, host.garble = _always(status), _always(said)
            triage(["run", "--repo", "shop", "--issue-url", host.issue, "--verbose"])
            yield KEY in told() or key in told()
        with _desk(folder / "echo", {}, _refusing(status, said)) as told:
            triage(["run", "--repo", "shop", "--issue", "issue.md", "--verbose"])
            yield KEY in told() or key in told()


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def _refusing(status: int, said: bytes) -> Callable[..., Answered]:
    """The critic's requests are refused, all others are answered."""
    sound = answering(route=("investigator", "critic", "writer"))
    return lambda agent, body: (status, "application/json", said) if agent == "critic" else sound(agent, body)


def _job(root: Path, folder: Path) -> None:
    with _desk(folder, {}):
        code = triage(["run", "--repo", str(root), "--issue", "issue.md", "--quiet"])
    if code:
        raise RuntimeError(f"triage run ended with {code}")


@contextlib.contextmanager
def _desk(
    folder: Path, variables: dict[str, str], answer: Callable[..., Answered] | None = None
) -> Iterator[Callable[[], str]]:
    """A folder to run `triage` in, with a key for everybody; a function that says what was printed."""
    (folder / "shop").mkdir(parents=True, exist_ok=True)
    (folder / "shop" / "cart.py").write_text("total = 1\n", encoding="utf-8")
    (folder / "issue.md").write_text("# Cart total is wrong\n\nTwo items, one price.\n", encoding="utf-8")
    printed = io.StringIO()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TRIAGE_", "OPENAI_"))}
    ours = {"TRIAGE_API_KEY": KEY, "GITHUB_TOKEN": KEY, "TRIAGE_CACHE_DIR": str(folder / "kept")}
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(an_llm_server(answer)).base_url
        for each in (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            patch("triage.terminal_screen.STDERR", Console(file=printed, soft_wrap=True, highlight=False)),
            patch.dict(os.environ, {**kept, **ours, "TRIAGE_BASE_URL": url, **variables}, clear=True),
        ):
            stack.enter_context(each)
        yield printed.getvalue
    release()


def _is_kept(said: dict[str, Any]) -> bool:
    body = json.dumps(a_chat_answer(**said)).encode()
    try:
        usable(an_asked(), HttpReply(200, "application/json", body))
    except RecordingError:
        return False
    return True


def _head(root: Path) -> str:
    return plain_git(root, "rev-parse", "HEAD").stdout.strip()

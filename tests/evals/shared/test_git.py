"""The one function that runs git: it starts no program that a checkout names, and every failure is one line."""

import ast
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from evals.shared.git_command import COMMANDS, DistrustError, GitError, NoGitError, git, open_git
from tests.builders.git import committed
from tests.builders.git import git as plain_git
from tests.builders.hostile_git import a_hostile_checkout, lose, ran
from tests.builders.repository import a_repository

CODE = Path(__file__).parents[3]
COMMANDS_ON_A_CHECKOUT = (
    ("status", "--porcelain", "--", "."),
    ("diff", "--unified=0", "HEAD"),
    ("diff", "HEAD~3", "--", "cart.py"),
    ("diff-tree", "-p", "-r", "HEAD~1", "HEAD"),
    ("log", "-p", "-m", "--format=%H"),
    ("log", "--full-history", "-m", "-M", "--name-status", "--format=%aN"),
    ("ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard"),
    ("ls-tree", "-r", "-l", "HEAD"),
    ("check-ignore", "--quiet", "none.py"),
    ("cat-file", "blob", "HEAD:cart.py"),
    ("rev-list", "--objects", "--no-walk", "HEAD"),
    ("merge-base", "main", "side"),
    ("config", "user.name"),
    ("rev-parse", "--show-prefix"),
)


def careless(root: Path, *words: str) -> None:
    """Run git as it is."""
    command = ["git", "-C", str(root), *words]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The checkout, and the folder of its markers."""
    folder = tmp_path_factory.mktemp("hostile")
    return a_hostile_checkout(folder / "checkout", folder / "markers"), folder / "markers"


@pytest.mark.parametrize("words", COMMANDS_ON_A_CHECKOUT, ids=lambda words: words[0])
def test_no_command_starts_a_program_that_the_checkout_names(hostile, words):
    root, markers = hostile
    with suppress(GitError):  # `check-ignore` and `config` say "no" by an exit code
        git(root, *words)

    assert ran(markers) == []


@pytest.mark.parametrize("more", ["", "*.cfg filter=stream\n"], ids=["filters", "process"])
def test_the_hostile_checkout_is_hostile(tmp_path, more):
    """What plain git starts in it, without which the test above would show nothing."""
    markers = tmp_path / "markers"
    root = a_hostile_checkout(tmp_path / "checkout", markers, more_attributes=more)
    for words in COMMANDS_ON_A_CHECKOUT:
        careless(root, *words)

    expected = {"core.fsmonitor", "included-clean", "gpg.program", "hook-post-index-change", "submodule-monitor"}
    expected |= {"diff.odd.textconv", "filter.odd.smudge"}
    expected |= {"filter.stream.process"} if more else {"filter.odd.clean", "filter.other.one.clean"}
    assert {f"ran-{name}" for name in expected} <= set(ran(markers))


def test_a_missing_object_is_not_fetched(tmp_path):
    markers = tmp_path / "markers"
    root = a_hostile_checkout(tmp_path / "checkout", markers)
    lose(root, "cart.py")
    with pytest.raises(GitError):
        git(root, "cat-file", "blob", "HEAD:cart.py")
    assert ran(markers) == []

    careless(root, "cat-file", "blob", "HEAD:cart.py")
    assert "ran-remote.origin.url" in ran(markers)


def test_a_filter_that_cannot_be_switched_off_is_refused(tmp_path):
    root = a_repository(tmp_path, {"a.py": "a = 1\n"})
    plain_git(root, "init", "--quiet")
    with (root / ".git/config").open("a") as config:
        config.write('[filter "a=b"]\n\tclean = touch ran\n')

    with pytest.raises(GitError, match="cannot be switched off"):
        git(root, "status", "--porcelain")


def test_a_patch_is_applied_as_if_there_were_no_repository_and_no_settings(tmp_path, monkeypatch):
    root = a_repository(tmp_path / "root", {"a.py": "a = 1\n", ".gitattributes": "*.py filter=odd\n"})
    plain_git(root, "init", "--quiet")
    settings = tmp_path / "settings"
    settings.write_text(f'[filter "odd"]\n\tsmudge = touch {tmp_path / "ran"}\n\tclean = touch {tmp_path / "ran"}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    git(root, "apply", given=b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n")

    assert (root / "a.py").read_text() == "a = 2\n"
    assert not (tmp_path / "ran").exists()


def test_variables_of_git_do_not_lead_to_another_repository(tmp_path, monkeypatch):
    for name in ("one", "other"):
        a_repository(tmp_path / name, {f"{name}.py": "a = 1\n"})
        plain_git(tmp_path / name, "init", "--quiet")
        committed(tmp_path / name, name)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")

    assert git(tmp_path / "one", "ls-files") == b"one.py\n"


def test_a_failure_is_git_s_own_reason_in_one_line(tmp_path):
    with pytest.raises(GitError, match=r"^not a git repository \(or any") as failure:
        git(tmp_path, "rev-parse", "HEAD")

    assert failure.value.code == 128


def test_a_repository_of_another_user_is_refused_with_what_to_type(tmp_path, monkeypatch):
    plain_git(tmp_path, "init", "--quiet")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setattr("evals.shared.git_command._KEPT", ("GIT_TEST_",))
    with pytest.raises(DistrustError) as refusal:
        git(tmp_path, "status")

    assert str(refusal.value).endswith(f"to allow it: git config --global --add safe.directory {tmp_path.resolve()}")
    assert "\n" not in str(refusal.value)


def test_without_git_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoGitError, match="not installed"):
        git(tmp_path, "status")


def test_output_has_a_limit(tmp_path):
    a_repository(tmp_path, {f"{n}.py": "a = 1\n" for n in range(50)})
    plain_git(tmp_path, "init", "--quiet")
    with pytest.raises(GitError, match="git ls-files printed more than 100 bytes, which is the limit"):
        git(tmp_path, "ls-files", "--others", max_bytes=100)


def test_git_that_hangs_is_ended_with_all_it_started(tmp_path, monkeypatch):
    program = a_repository(tmp_path, {"git": "#!/bin/sh\nsleep 600 &\nsleep 600\n"}) / "git"
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    began = time.monotonic()
    with pytest.raises(GitError, match=r"git rev-parse gave no answer within 0\.3 s"):
        git(tmp_path, "rev-parse", "HEAD", timeout_s=0.3)
    with pytest.raises(GitError, match=r"gave no answer within 0\.3 s"):  # of the settings it asks about first
        git(tmp_path, "status", timeout_s=0.3)

    assert time.monotonic() - began < 30


def test_whoever_leaves_a_stream_early_ends_git(tmp_path):
    plain_git(tmp_path, "init", "--quiet")
    with pytest.raises(KeyError), open_git(tmp_path, "cat-file", "--batch", given=b"none\n" * 1_000_000):
        raise KeyError


def test_a_stream_that_git_does_not_finish_is_an_error(tmp_path):
    with pytest.raises(GitError), open_git(tmp_path, "cat-file", "--batch") as output:
        assert output.read() == b""


def test_only_listed_commands_are_run(tmp_path):
    with pytest.raises(KeyError):
        git(tmp_path, "archive", "HEAD")
    assert "archive" not in COMMANDS


def test_no_other_module_runs_git():
    """Neither as `git` in a list of words, nor by a search for the program, nor in a shell."""
    found = {
        path.relative_to(CODE).as_posix()
        for package in ("triage", "evals")
        for path in (CODE / package).rglob("*.py")
        if _starts_processes(tree := ast.parse(path.read_text(encoding="utf-8"))) and _names_git(tree)
    }

    assert found == {"evals/shared/git_command.py"}


def _starts_processes(tree: ast.AST) -> bool:
    doors = {"subprocess", "pty", "multiprocessing", "create_subprocess_exec", "create_subprocess_shell"}
    doors |= {"system", "popen", "execv", "execvp", "execve", "spawnv", "posix_spawn", "which"}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    named |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    named |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return bool(doors & (imported | named))


def _names_git(tree: ast.AST) -> bool:
    words = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return any(word in ("git", "git.exe") or word.startswith(("git -", "/usr/bin/git")) for word in words)


def test_the_user_s_name_is_still_read(tmp_path, monkeypatch):
    settings = tmp_path / "settings"
    settings.write_text("[user]\n\tname = Ada\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))

    assert git(tmp_path, "config", "user.name") == b"Ada\n"


def test_nothing_is_written_into_the_repository(tmp_path):
    root = a_repository(tmp_path / "root", {"a.py": "a = 1\n"})
    plain_git(root, "init", "--quiet")
    committed(root, "start")
    (root / "a.py").touch()
    before = (root / ".git/index").read_bytes()
    git(root, "status", "--porcelain")

    assert (root / ".git/index").read_bytes() == before

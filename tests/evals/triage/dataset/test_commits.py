"""Commits taken out of clones of every kind, and what of them can be searched."""

import shutil
import subprocess

import pytest

from evals.errors import ConfigurationError, DatasetError
from evals.shared.git_command import GitError
from evals.triage.dataset.case_code import POINTER, Commits, commit_tree, commit_tree_name, need_commits, take_in
from evals.triage.dataset.repository_clones import Clone, Clones, NoCodeError
from tests.builders.planted import SHOP, a_commit, a_history, copied, told

NAME = "example/shop"


@pytest.fixture
def shop(tmp_path):
    """The shop's repository and its two commits: with the bug, and mended."""
    return tmp_path / "origin", *a_history(tmp_path / "origin", *SHOP)


def files_of(tree):
    return sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file())


def test_a_commit_is_written_without_its_tests(tmp_path, shop):
    folder, base, _ = shop
    shutil.move(folder, tmp_path / "repos" / "shop")
    take_in(NAME, base, Clones(tmp_path / "repos"), tmp_path / "cache")

    tree = commit_tree(NAME, base, tmp_path / "cache")
    assert files_of(tree) == ["CHANGELOG.md", "docs/usage.md", "shop/cart.py", "shop/tax.py"]
    assert "[1:]" in (tree / "shop/cart.py").read_text()


@pytest.mark.parametrize(
    ("place", "options"),
    [
        ("shop", ()),
        ("shop.git", ("--bare",)),
        ("example/shop", ()),
        ("example/shop.git", ("--mirror",)),
        ("example__shop", ("--no-checkout",)),
        ("shop", ("--depth", "1")),
        ("shop.git", ("--bare", "--depth", "1")),
    ],
)
def test_a_clone_of_any_kind_gives_the_same_folder(tmp_path, shop, place, options):
    folder, _, head = shop
    copied(folder, tmp_path / "repos" / place, *options)

    take_in(NAME, head, Clones(tmp_path / "repos"), tmp_path / "cache")
    tree = commit_tree(NAME, head, tmp_path / "cache")
    assert tree.name == commit_tree_name(head)
    assert "[1:]" not in (tree / "shop/cart.py").read_text()


def test_a_shallow_clone_that_ends_too_early_says_so(tmp_path, shop):
    folder, base, _ = shop
    copied(folder, tmp_path / "repos" / "shop", "--depth", "1")

    with pytest.raises(NoCodeError, match=f"has no commit {base[:12]}; fetch it there"):
        take_in(NAME, base, Clones(tmp_path / "repos"), tmp_path / "cache")


def test_a_partial_clone_is_not_completed_behind_anybodys_back(tmp_path, shop):
    folder, base, _ = shop
    told(folder, "config", "uploadpack.allowFilter", "true")
    copied(folder, tmp_path / "repos" / "shop", "--bare", "--filter=blob:none")

    with pytest.raises(NoCodeError, match="lacks files of"):
        take_in(NAME, base, Clones(tmp_path / "repos"), tmp_path / "cache")
    assert not Commits.below(tmp_path / "cache").has(base)


def test_a_fork_of_the_name_that_lacks_the_commit_gives_way_to_one_that_has_it(tmp_path, shop):
    folder, base, _ = shop
    a_history(tmp_path / "repos" / "example" / "shop", {"other.py": "x = 1\n"})
    copied(folder, tmp_path / "repos" / "shop")

    assert take_in(NAME, base, Clones(tmp_path / "repos"), tmp_path / "cache") == base


@pytest.mark.parametrize("name", ["../shop", "example/..", "./."])
def test_a_repositorys_name_leads_nowhere_else(tmp_path, shop, name):
    _, base, _ = shop
    (tmp_path / "repos").mkdir()

    with pytest.raises(NoCodeError, match="there is no clone of"):
        Clones(tmp_path / "repos").holding(name, base)


def test_a_folder_inside_of_another_repository_is_no_clone(tmp_path, shop):
    folder, base, _ = shop

    with pytest.raises(NoCodeError, match="there is no clone of example/shop"):
        Clones(folder).holding(NAME, base)


@pytest.mark.parametrize("commit", ["HEAD", "--all", "main", "", "g" * 40])
def test_a_row_names_a_commit_by_its_hash_and_nothing_else(tmp_path, shop, commit):
    folder, _, _ = shop
    copied(folder, tmp_path / "repos" / "shop")

    with pytest.raises(NoCodeError, match="is no commit's hash"):
        Clones(tmp_path / "repos").holding(NAME, commit)


def test_attributes_of_the_repository_change_no_byte(tmp_path):
    """`git archive` would drop one of these files, expand the second, and a checkout would convert the third."""
    files = {
        ".gitattributes": "lost.py export-ignore\nstamp.py export-subst\nends.py text eol=crlf ident\n",
        "lost.py": "kept = True\n",
        "stamp.py": "version = '$Format:%H%d$'\n",
        "ends.py": "name = '$Id$'\n",
    }
    [head] = a_history(tmp_path / "repos" / "shop", files)
    take_in(NAME, head, Clones(tmp_path / "repos"), tmp_path / "cache")

    tree = commit_tree(NAME, head, tmp_path / "cache")
    assert {name: (tree / name).read_bytes().decode() for name in files} == files


def test_submodules_links_and_lfs_pointers_are_left_out_and_named(tmp_path):
    origin = tmp_path / "repos" / "shop"
    [first] = a_history(origin, {"data/prices.bin": POINTER + b"oid sha256:1\nsize 9\n", "shop.py": "x = 1\n"})
    (origin / "link.py").symlink_to("shop.py")
    told(origin, "update-index", "--add", "--cacheinfo", f"160000,{first},vendor/lib")
    told(origin, "add", "link.py")
    told(origin, "commit", "--quiet", "-m", "more")
    head = told(origin, "rev-parse", "HEAD")
    commits = Commits.below(tmp_path / "cache")
    commits.take(Clone(origin), head)

    commits.write(head, tmp_path / "tree")
    left = commits.left_out(head)
    assert (left.submodules, left.pointers) == (("vendor/lib",), ("data/prices.bin",))
    assert files_of(tmp_path / "tree") == ["shop.py"]


def test_a_second_commit_brings_only_what_is_new(tmp_path, shop):
    folder, base, head = shop
    commits = Commits.below(tmp_path / "cache")
    commits.take(Clone(folder), base)
    before = told(commits.folder, "count-objects", "-v")
    commits.take(Clone(folder), base)
    assert told(commits.folder, "count-objects", "-v") == before

    commits.take(Clone(folder), head)
    packed = [line for line in told(commits.folder, "count-objects", "-v").splitlines() if line.startswith("in-pack")]
    assert packed == ["in-pack: 19"]  # 2 commits of 4 folders each, 5 files and the 4 that changed


def test_nothing_kept_names_a_folder_of_the_machine(tmp_path, shop):
    folder, base, _ = shop
    commits = Commits.below(tmp_path / "cache")
    commits.take(Clone(folder), base)

    written = [path for path in commits.folder.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if str(tmp_path).encode() in path.read_bytes()]


def test_the_clone_may_go_once_its_commit_was_taken(tmp_path, shop):
    folder, base, _ = shop
    shutil.move(folder, tmp_path / "repos" / "shop")
    take_in(NAME, base, Clones(tmp_path / "repos"), tmp_path / "cache")
    shutil.rmtree(tmp_path / "repos")
    tree = commit_tree(NAME, base, tmp_path / "cache")
    (tree / "shop/cart.py").unlink()

    assert (commit_tree(NAME, base, tmp_path / "cache") / "shop/cart.py").is_file()


def test_code_that_is_not_here_is_one_line_that_names_the_command(tmp_path, shop, monkeypatch):
    monkeypatch.delenv("EVALS_REPOS", raising=False)
    _, base, head = shop

    with pytest.raises(DatasetError) as caught:
        need_commits([(NAME, base), (NAME, head), (NAME, base)], tmp_path / "cache")
    assert f"the code of example/shop at {base[:12]} (and 1 more) is not here; clone it" in str(caught.value)
    assert "set EVALS_REPOS=DIR" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_clone_below_the_folder_of_the_variable_is_enough(tmp_path, shop, monkeypatch):
    folder, base, _ = shop
    copied(folder, tmp_path / "repos" / "shop")
    monkeypatch.setenv("EVALS_REPOS", str(tmp_path / "repos"))

    assert (commit_tree(NAME, base, tmp_path / "cache") / "shop/cart.py").is_file()


def test_a_damaged_store_is_mended_by_taking_the_commit_again(tmp_path, shop, monkeypatch):
    monkeypatch.delenv("EVALS_REPOS", raising=False)
    folder, base, _ = shop
    commits = Commits.below(tmp_path / "cache")
    commits.take(Clone(folder), base)
    shutil.rmtree(commits.folder / "objects" / "pack")
    with pytest.raises(DatasetError, match="is not here"):
        commit_tree(NAME, base, tmp_path / "cache")

    commits.take(Clone(folder), base)
    assert (commit_tree(NAME, base, tmp_path / "cache") / "shop/cart.py").is_file()


def test_a_hash_of_256_bits_is_refused(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    told(folder, "init", "--quiet", "--object-format=sha256")
    a_commit(folder, {"a.py": "x = 1\n"})

    with pytest.raises(GitError, match="SHA-256"):
        Clone(folder).commit("HEAD")


def test_a_repository_that_cannot_be_read_says_so_and_names_no_path(tmp_path, shop):
    _, base, _ = shop
    a_history(tmp_path / "repos" / "shop", {"a.py": "x = 1\n"})
    (tmp_path / "repos" / "shop" / ".git" / "HEAD").write_text("nonsense")

    with pytest.raises(NoCodeError) as caught:
        Clones(tmp_path / "repos").holding(NAME, base)
    assert str(caught.value) == "the clone of example/shop cannot be read; ask `git status` there why"


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path, shop):
    folder, base, _ = shop
    (tmp_path / "cache").write_text("a file where a folder belongs")

    with pytest.raises(ConfigurationError, match="cannot keep a commit's code"):
        Commits.below(tmp_path / "cache").take(Clone(folder), base)


def test_a_name_that_is_no_text_costs_its_file_alone(tmp_path):
    origin = tmp_path / "repos" / "shop"
    [first] = a_history(origin, {"shop.py": "x = 1\n"})
    blob = told(origin, "rev-parse", f"{first}:shop.py").encode()
    listed = b"".join(b"100644 blob %s\t%s\0" % (blob, name) for name in (b"caf\xe9.py", b"tab\t.py", b"shop.py"))
    tree = subprocess.run(["git", "mktree", "-z"], cwd=origin, input=listed, capture_output=True, check=True).stdout
    head = told(origin, "commit-tree", "-m", "odd", tree.decode().strip())
    commits = Commits.below(tmp_path / "cache")
    commits.take(Clone(origin), head)

    commits.write(head, tmp_path / "tree")
    assert files_of(tmp_path / "tree") == ["shop.py"]


def test_a_tree_that_leads_out_of_itself_is_refused(tmp_path):
    """Git makes no such tree, but reads one."""
    origin = tmp_path / "repos" / "shop"
    [first] = a_history(origin, {"a/b.py": "x = 1\n"})
    raw = subprocess.run(["git", "cat-file", "tree", first], cwd=origin, capture_output=True, check=True).stdout
    words = ["git", "hash-object", "--literally", "-t", "tree", "-w", "--stdin"]
    evil = raw.replace(b"40000 a\0", b"40000 ..\0")
    tree = subprocess.run(words, cwd=origin, input=evil, capture_output=True, check=True).stdout.decode().strip()
    head = told(origin, "commit-tree", "-m", "evil", tree)
    commits = Commits.below(tmp_path / "cache")
    commits.take(Clone(origin), head)

    with pytest.raises(GitError, match="outside of its own tree"):
        commits.write(head, tmp_path / "tree" / "inner")
    assert not (tmp_path / "tree" / "b.py").exists()


def test_what_a_hook_sets_does_not_lead_to_another_repository(tmp_path, shop, monkeypatch):
    folder, base, _ = shop
    copied(folder, tmp_path / "repos" / "shop")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "nowhere"))

    assert take_in(NAME, base, Clones(tmp_path / "repos"), tmp_path / "cache") == base

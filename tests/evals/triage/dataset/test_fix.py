"""Where the fault was, by the commit that mended it: three repositories with planted fixes, and what is no fix."""

import pytest

from evals.errors import ConfigurationError
from evals.triage.dataset.new_case import fixed_bug, no_code
from evals.triage.dataset.repository_clones import Clone, clone_at
from tests.builders.planted import DELETED, RENAMED, SHOP, a_commit, a_history, copied, told

NAME = "example/shop"


def mended(folder, *states, revision="HEAD"):
    a_history(folder, *states)
    return fixed_bug(Clone(folder), revision, NAME)


def test_tests_docs_and_changelog_are_left_out_and_said(tmp_path):
    bug = mended(tmp_path / "shop", *SHOP)

    assert sorted(bug.notes) == [
        "CHANGELOG.md: is a text",
        "docs/usage.md: is a text",
        "tests/test_cart.py: is a test",
    ]


def test_a_file_that_the_fix_renames_is_gold_under_its_old_name(tmp_path):
    bug = mended(tmp_path / "settings", *RENAMED)

    assert bug.gold.files == ("src/settings/reader.py",)
    assert bug.gold.whole_names == ("src/settings/reader.py::load",)


def test_a_fix_that_only_deletes_names_what_it_took_out(tmp_path):
    bug = mended(tmp_path / "jobs", *DELETED)

    assert bug.gold.files == ("jobs/old.py", "jobs/queue.py")
    assert bug.gold.whole_names == ("jobs/old.py::unused", "jobs/queue.py::Queue.put")


def test_of_a_merge_all_that_it_brought_is_the_fix(tmp_path):
    folder = tmp_path / "shop"
    a_history(folder, SHOP[0])
    told(folder, "checkout", "--quiet", "-b", "mend")
    a_commit(folder, SHOP[1])
    told(folder, "checkout", "--quiet", "main")
    a_commit(folder, {"shop/other.py": "x = 1\n"})
    told(folder, "merge", "--quiet", "--no-ff", "-m", "mend", "mend")

    assert fixed_bug(Clone(folder), "HEAD", NAME).gold.files == ("shop/cart.py",)


@pytest.mark.parametrize("options", [(), ("--bare",), ("--depth", "2")])
def test_any_clone_with_both_commits_will_do(tmp_path, options):
    fix = a_history(tmp_path / "origin", {"first.py": "x = 1\n"}, *SHOP)[-1]
    clone = copied(tmp_path / "origin", tmp_path / "clone", *options)

    assert fixed_bug(Clone(clone), fix, NAME).gold.functions == ("shop/cart.py::Cart",)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://git.example.com/example/shop.git", "example/shop"),
        ("git@git.example.com:example/shop.git", "example/shop"),
        ("ssh://git@git.example.com/example/shop", "example/shop"),
        ("/srv/example/shop.git", ""),
        ("https://git.example.com/group/example/shop", ""),
    ],
)
def test_the_repositorys_name_is_read_off_its_remote(tmp_path, url, name):
    a_history(tmp_path / "shop", *SHOP, origin=url)

    assert Clone(tmp_path / "shop").repository() == name


def one_commit(folder):
    a_history(folder, SHOP[0])


def a_shallow_clone(folder):
    a_history(folder.parent / "origin", *SHOP)
    copied(folder.parent / "origin", folder, "--depth", "1")


def words_only(folder):
    a_history(folder, SHOP[0], {"CHANGELOG.md": "## 1.2\n", "tests/test_cart.py": "x = 1\n"})


def nothing_at_all(folder):
    a_history(folder, SHOP[0], {})


def additions_only(folder):
    a_history(folder, SHOP[0], {"shop/new.py": "x = 1\n"})


@pytest.mark.parametrize(
    ("made", "complaint"),
    [
        (one_commit, "is the first commit: there is no code from before it"),
        (a_shallow_clone, "fetch it: git fetch --deepen 1"),
        (
            words_only,
            "changes no code that was there before it: tests/test_cart.py: is a test; CHANGELOG.md: is a text",
        ),
        (nothing_at_all, "HEAD is no fix: its patch is empty"),
        (additions_only, "shop/new.py: is new in the fix, so the fault was not in it"),
    ],
)
def test_what_is_no_fix_is_one_line(tmp_path, made, complaint):
    made(tmp_path / "shop")

    with pytest.raises(ConfigurationError, match=r".") as caught:
        fixed_bug(Clone(tmp_path / "shop"), "HEAD", NAME)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("revision", ["nowhere", "--all", "HEAD:shop", "", "HEAD..HEAD~"])
def test_a_revision_that_is_no_commit_is_one_line(tmp_path, revision):
    with pytest.raises(ConfigurationError, match="has no commit"):
        mended(tmp_path / "shop", *SHOP, revision=revision)


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_a_folder_that_is_no_repository_is_one_line(tmp_path, name):
    with pytest.raises(ConfigurationError, match=r"there is no such folder|is no git repository"):
        clone_at(tmp_path / name)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("CHANGES", "is a text"),
        ("CHANGELOG.rst", "is a text"),
        ("docs/conf.py", "is a text"),
        ("changes/12.bugfix", "is a text"),
        ("requirements.txt", "is a text"),
        (".github/workflows/test.yml", "is hidden"),
        ("src/changes.py", ""),
        ("src/changes/apply.py", ""),
        ("src/news.py", ""),
        ("src/doc/build.py", ""),
        ("setup.cfg", ""),
    ],
)
def test_code_is_told_from_texts_by_a_stated_rule(path, why):
    assert no_code(path) == why

"""Two people, two branches, one case: real git, with and without `make setup WITH=git`."""

import shutil

import pytest

from evals.cassettes.cassette_files import load, merge_write
from evals.cassettes.manifest import write as write_manifest
from tests.builders.git import a_git_checkout, committed, git
from tests.builders.interaction import an_interaction, words_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (shutil.which("git") and shutil.which("make")), reason="no git or make on this machine"),
]
CASE = "cassettes/case.yaml"


def recorded(checkout, branch, **cassettes):
    """A commit on `branch` (new branches start at main) that records interactions into cassettes."""
    if git(checkout, "checkout", "--quiet", branch).returncode:
        git(checkout, "checkout", "--quiet", "-b", branch, "main")
    for name, interactions in cassettes.items():
        merge_write(checkout / "cassettes" / f"{name}.yaml", interactions)
    write_manifest(checkout / "cassettes")
    committed(checkout, f"record on {branch}")


def two_branches(checkout, ours, theirs):
    """Main and `theirs` both go on from one recorded question."""
    recorded(checkout, "main", case=[an_interaction("base")])
    recorded(checkout, "theirs", case=theirs)
    recorded(checkout, "main", case=ours)
    return checkout


def test_two_recordings_of_one_case_merge_by_union(tmp_path):
    checkout = two_branches(a_git_checkout(tmp_path / "c"), [an_interaction("ours")], [an_interaction("theirs")])

    git(checkout, "merge", "theirs")

    assert git(checkout, "ls-files", "--unmerged").stdout == ""
    assert sorted(words_of(load(checkout / CASE).interactions)) == ["base", "ours", "theirs"]


def test_one_question_with_two_answers_stops_the_merge_and_loses_neither(tmp_path):
    ours, theirs = an_interaction("q", answer="ours"), an_interaction("q", answer="theirs")
    checkout = two_branches(a_git_checkout(tmp_path / "c"), [ours], [theirs, an_interaction("r")])
    before = (checkout / CASE).read_bytes()

    merged = git(checkout, "merge", "theirs")

    assert merged.returncode == 1
    assert f"evals: {CASE}: 1 request was answered differently on the two branches: critic " in merged.stderr
    assert (checkout / CASE).read_bytes() == before
    kept = checkout / ".cache/cassette-merge"
    assert load(kept / "case.ours.yaml").interactions == load(checkout / CASE).interactions
    assert theirs in load(kept / "case.theirs.yaml").interactions


def test_the_command_the_conflict_names_settles_it(tmp_path):
    theirs = an_interaction("q", answer="theirs")
    checkout = two_branches(a_git_checkout(tmp_path / "c"), [an_interaction("q", answer="ours")], [theirs])
    said = git(checkout, "merge", "theirs").stderr
    merge, copy = [part for part in said.split("`") if part.startswith(("evals cassette merge", "cp "))]

    for line in (f".venv/bin/{merge.replace('--prefer ours', '--prefer theirs')}", copy):
        done = git(checkout, "-c", f"alias.run=!{line}", "run")
        assert done.returncode == 0, done.stderr

    assert theirs in load(checkout / CASE).interactions


def test_a_side_that_cannot_be_trusted_is_never_merged(tmp_path):
    checkout = two_branches(a_git_checkout(tmp_path / "c"), [an_interaction("ours")], [an_interaction("theirs")])
    (checkout / CASE).write_text((checkout / CASE).read_text().replace("count: 2", "count: 5"))
    committed(checkout, "by hand")
    before = (checkout / CASE).read_bytes()

    merged = git(checkout, "merge", "theirs")

    assert merged.returncode == 1
    assert f"{CASE} (ours):3: x_replay.count says 5" in merged.stderr
    assert (checkout / CASE).read_bytes() == before


def test_without_the_set_up_a_merge_is_a_plain_conflict_and_the_file_stays_whole(tmp_path):
    checkout = a_git_checkout(tmp_path / "c", set_up=False)
    two_branches(checkout, [an_interaction("ours")], [an_interaction("theirs")])
    before = (checkout / CASE).read_bytes()

    merged = git(checkout, "merge", "theirs")

    assert merged.returncode == 1
    assert f"CONFLICT (content): Merge conflict in {CASE}" in merged.stdout
    assert (checkout / CASE).read_bytes() == before


def test_branches_that_recorded_different_cases_merge_without_the_set_up(tmp_path):
    """Their lines of the manifest stand side by side."""
    checkout = a_git_checkout(tmp_path / "c", set_up=False)
    recorded(checkout, "main", a=[an_interaction("a")], d=[an_interaction("d")])
    recorded(checkout, "theirs", b=[an_interaction("b")], d=[an_interaction("more")])
    recorded(checkout, "main", c=[an_interaction("c")], a=[an_interaction("more")])

    merged = git(checkout, "merge", "theirs")
    verified = git(checkout, "-c", "alias.run=!.venv/bin/evals cassette verify", "run")

    assert merged.returncode == 0, merged.stdout
    assert (verified.returncode, verified.stdout) == (0, "4 cassettes with 6 interactions: no findings\n")


def with_a_question(checkout):
    """Its last commit recorded one more question."""
    recorded(checkout, "main", case=[an_interaction("base")])
    recorded(checkout, "main", case=[an_interaction("Größe?", answer="Because.")])
    return checkout


def test_a_diff_of_a_cassette_reads_as_text(tmp_path):
    checkout = with_a_question(a_git_checkout(tmp_path / "c"))

    shown = git(checkout, "diff", "HEAD~1", "--", CASE).stdout

    assert "+[user]\n+  Größe?\n" in shown
    assert "+  Because.\n" in shown
    assert "x_meta" not in shown


def test_a_broken_cassette_does_not_end_the_diff(tmp_path):
    checkout = with_a_question(a_git_checkout(tmp_path / "c"))
    (checkout / CASE).write_text("not a cassette\n")

    shown = git(checkout, "diff", "--", CASE)

    assert shown.returncode == 0
    assert "+not a cassette" in shown.stdout


def test_without_the_set_up_a_diff_shows_the_yaml(tmp_path):
    checkout = with_a_question(a_git_checkout(tmp_path / "c", set_up=False))

    assert "+  x_meta:" in git(checkout, "diff", "HEAD~1", "--", CASE).stdout


def test_setting_up_twice_changes_nothing_more(tmp_path):
    checkout = a_git_checkout(tmp_path / "c")
    read = [(checkout / ".git" / name) for name in ("config", "info/attributes")]
    before = [path.read_bytes() for path in read]

    git(checkout, "-c", "alias.run=!make setup WITH=git", "run")

    assert [path.read_bytes() for path in read] == before

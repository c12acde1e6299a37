"""What a job keeps is for its owner's eyes, is hidden from git, goes when it is deleted, and holds no login."""

import base64
import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.builders.desk import AGAIN, NEW, a_desk, triage_at
from tests.builders.llm_server import answering
from tests.builders.unruly import refusing
from triage.cli import main
from triage.private_files import private_folder, remove_unused, write_private
from triage.run_options import RunOptions
from triage.settings import login_in, without_login

PASSWORD = "word-of-the" + "-test"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    before = os.umask(0o022)
    yield a_desk(tmp_path, monkeypatch)
    os.umask(before)


def run(monkeypatch, *more, code=0):
    with triage_at(monkeypatch) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW, *more) == code
    return llm


def open_to_others(*folders: str) -> list[str]:
    found = [path for folder in folders for path in (Path(folder), *Path(folder).rglob("*"))]
    assert len(found) > len(folders)
    return [str(path) for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077]


def test_others_can_read_nothing_of_a_job(desk, monkeypatch):
    run(monkeypatch, "--record")

    assert open_to_others(".triage", "cache") == []


def test_a_folder_of_before_is_closed(desk, monkeypatch):
    Path(".triage").mkdir(mode=0o755)
    Path(".triage/jobs.sqlite").touch(0o644)
    run(monkeypatch)

    assert open_to_others(".triage") == []


def test_a_folder_of_the_users_own_keeps_its_mode(desk, monkeypatch):
    Path("results").mkdir(mode=0o755)
    run(monkeypatch, "--out", "results")

    assert open_to_others("results") == ["results"]
    assert not Path("results/.gitignore").exists()


@pytest.mark.parametrize(("held", "stays"), [((), False), (("jobs.sqlite",), True)])
def test_a_folder_that_nothing_was_put_into_is_removed_with_what_hides_it(held, stays, tmp_path):
    folder = private_folder(tmp_path / ".triage")
    for name in held:
        (folder / name).touch()
    remove_unused(folder)

    assert folder.exists() is (folder / ".gitignore").exists() is stays


def test_git_does_not_see_the_jobs(desk, monkeypatch):
    subprocess.run(["git", "init", "-q"], check=True)
    run(monkeypatch)

    said = subprocess.run(["git", "status", "--porcelain", "-uall"], check=True, capture_output=True, text=True).stdout
    assert ".triage" not in said


def test_deleting_a_job_leaves_nothing_of_it(desk, monkeypatch):
    Path("issue.md").write_text("# Wrong\n\nThe customer is called Zebedee-of-the-test.\n")
    run(monkeypatch, "--record")
    assert b"Zebedee-of-the-test" in b"".join(path.read_bytes() for path in Path(".triage").glob("jobs.sqlite*"))

    assert main(["jobs", "delete", "one"]) == 0
    assert [path.name for path in Path(".triage").rglob("*") if not path.name.startswith("jobs.sqlite")] == [
        ".gitignore"
    ]
    assert b"Zebedee-of-the-test" not in b"".join(path.read_bytes() for path in Path(".triage").glob("jobs.sqlite*"))


def test_deleting_a_job_leaves_files_of_others(desk, monkeypatch, capsys):
    run(monkeypatch, "--out", "results")
    Path("results/notes.txt").write_text("mine")
    main(["jobs", "delete", "one"])

    assert [path.name for path in Path("results").iterdir()] == ["notes.txt"]


def test_deleting_a_job_leaves_what_another_job_wrote_to_the_same_folder(desk, monkeypatch, capsys):
    run(monkeypatch, "--out", "results")
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", "--issue", "issue.md", "--job-id", "two", "--out", "results")
    main(["jobs", "delete", "one"])

    assert "report.md stays: another job wrote it last" in capsys.readouterr().out
    assert Path("results/report.md").exists()


@pytest.mark.parametrize("fails", [False, True], ids=["an endpoint that answers", "one that fails"])
def test_a_password_in_an_address_is_used_and_never_stored_or_printed(fails, desk, monkeypatch, capsys):
    answer = refusing(500) if fails else answering(stranger={"word": "ready"})  # what `triage check` asks for
    with triage_at(monkeypatch, answer) as (triage, llm):
        login = f"http://user:{PASSWORD}@"
        monkeypatch.setenv("TRIAGE_BASE_URL", llm.base_url.replace("http://", login))
        monkeypatch.setenv("TRIAGE_TAVILY_BASE_URL", llm.search_url.replace("http://", login))
        assert triage("run", "--repo", "shop", *NEW, "--verbose") == (3 if fails else 0)
        triage("run", *AGAIN, "--verbose")
        triage("check")
        triage("jobs", "show", "one")

    told = capsys.readouterr()
    assert PASSWORD not in told.out + told.err
    assert [
        path for path in Path(".triage").rglob("*") if path.is_file() and PASSWORD.encode() in path.read_bytes()
    ] == []
    basic = "Basic " + base64.b64encode(f"user:{PASSWORD}".encode()).decode()
    assert set(llm.authorised) == {basic}


def test_a_password_stored_by_an_older_triage_is_not_shown():
    kept = {"triage_base_url": f"http://user:{PASSWORD}@host/v1", "triage_supervisor": "llm"}

    assert RunOptions.from_metadata(kept).base_url == "http://host/v1"


def test_an_address_without_a_scheme_is_refused_without_its_password(desk, monkeypatch, capsys):
    monkeypatch.setenv("TRIAGE_BASE_URL", f"user:{PASSWORD}@host/v1")

    assert main(["run", "--repo", "shop", *NEW]) == 2
    assert PASSWORD not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "bare", "login"),
    [
        ("http://host/v1", "http://host/v1", None),
        ("https://a:b@host:1/v1?x=@y", "https://host:1/v1?x=@y", ("a", "b")),
        ("https://a@host", "https://host", ("a", "")),
        ("https://a:p%40q@host", "https://host", ("a", "p@q")),
        ("https://host/a@b", "https://host/a@b", None),
    ],
)
def test_a_login_is_told_from_its_address(address, bare, login):
    assert (without_login(address), login_in(address)) == (bare, login)


def test_files_are_written_for_their_owner(tmp_path):
    (tmp_path / "file").touch(0o644)
    write_private(tmp_path / "file", "text")
    folder = private_folder(tmp_path / "one" / "two")

    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent)] == [0o700, 0o700]
    assert json.dumps((tmp_path / "file").read_text()) == '"text"'

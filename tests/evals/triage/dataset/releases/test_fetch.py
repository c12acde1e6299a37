"""Fetching with the user's own pip, from a folder in the place of an index."""

import io
import re
import subprocess
import tarfile
import zipfile

import pytest

from evals.cli.main import main
from evals.errors import NotFetchedError, ReleaseError
from evals.triage.dataset import fetch_packages as downloads
from evals.triage.dataset.fetch_packages import (
    TOGETHER,
    batches,
    download,
    fetch_all,
    refusal,
)
from evals.triage.dataset.package_store import Release, Shelf, unpack
from tests.builders.released import FAULTY, MENDED, a_released_dataset, a_wheel, asked_of


def a_release(**changes):
    return Release.model_validate({"package": "shop", "version": "1.0", "sha256": "0" * 64} | changes)


def test_what_was_fetched_is_here_and_whole_without_any_index(tmp_path, monkeypatch):
    release = a_wheel(tmp_path / "links", "1.0", FAULTY)
    shelf = Shelf(tmp_path / "cache")
    asked_of(tmp_path / "links", monkeypatch)
    download([release], shelf)
    place = shelf.put(release)
    asked_of(tmp_path / "nowhere", monkeypatch)
    assert fetch_all([release], shelf) == []

    assert shelf.missing([release]) == []
    assert (place / "shop" / "cart.py").read_text() == FAULTY["shop/cart.py"]


def test_a_changed_hash_is_one_clear_line(tmp_path, monkeypatch):
    a_wheel(tmp_path / "links", "1.0", FAULTY)
    asked_of(tmp_path / "links", monkeypatch)

    with pytest.raises(ReleaseError, match=r"^shop 1.0: the index gives a file with another sha256 than 000000000000…"):
        download([a_release()], Shelf(tmp_path / "cache"))


@pytest.fixture
def calls(monkeypatch):
    """What pip is asked for, call by call."""
    asked, really = [], downloads._pip
    monkeypatch.setattr(downloads, "_pip", lambda releases, at: asked.append(list(releases)) or really(releases, at))
    return asked


def test_releases_of_different_packages_take_one_start_of_pip(tmp_path, monkeypatch, calls):
    links = tmp_path / "links"
    releases = [a_wheel(links, "1.0", FAULTY, package=name) for name in ("shop", "till", "scales")]
    asked_of(links, monkeypatch)
    heard = []

    assert fetch_all(releases, Shelf(tmp_path / "cache"), done=heard.append) == []
    assert Shelf(tmp_path / "cache").missing(releases) == []
    assert calls == [releases]
    assert heard == ["shop 1.0", "till 1.0", "scales 1.0"]


def test_one_that_is_refused_is_named_and_keeps_no_other_away(tmp_path, monkeypatch):
    links = tmp_path / "links"
    good = a_wheel(links, "1.0", FAULTY, package="till")
    a_wheel(links, "1.0", FAULTY)
    asked_of(links, monkeypatch)
    wrong = fetch_all([a_release(), good], shelf := Shelf(tmp_path / "cache"))

    assert [str(error).partition(":")[0] for error in wrong] == ["shop 1.0"]
    assert shelf.missing([good]) == []


def test_without_an_index_only_one_call_waits_for_it(tmp_path, monkeypatch, calls):
    monkeypatch.setattr(downloads, "refusal", lambda release, _: refusal(release, "ProxyError"))
    monkeypatch.setattr(downloads, "_UNREACHABLE", re.compile(""))
    asked_of(tmp_path, monkeypatch)
    wrong = fetch_all([a_release(package=name) for name in ("shop", "till", "scales")], Shelf(tmp_path / "cache"))

    assert ["no index could be reached" in str(error) for error in wrong] == [True, False, False]
    assert {type(error) for error in wrong} == {NotFetchedError}
    assert len(calls) == 1


def test_no_call_asks_for_two_releases_of_a_package():
    """It refuses that; `a.b` and `A_B` are one package to it."""
    names = ["a.b", "c", "A_B", "c", *map(str, range(TOGETHER))]
    found = batches([a_release(package=name, version=f"{n}") for n, name in enumerate(names)])

    assert [len(batch) for batch in found] == [TOGETHER, 2, 2]
    assert [release.version for release in found[2]] == ["2", "3"]


def test_what_pip_says_of_a_yanked_release_is_passed_on_for_that_one(tmp_path, monkeypatch):
    said = "The candidate selected for download or install is a yanked version: 'shop' candidate (version 1.0 at x)"
    done = subprocess.CompletedProcess([], 0, "", f"WARNING: {said}")
    monkeypatch.setattr(downloads, "_pip", lambda releases, at: done)
    notes = []
    download([a_release(package="till"), a_release()], Shelf(tmp_path), notes.append)

    assert notes == ["shop 1.0 was yanked by its authors; pip still gives it to whoever asks for this very version"]


def test_a_release_that_was_withdrawn_is_one_clear_line(tmp_path, monkeypatch):
    a_wheel(tmp_path / "links", "1.1", MENDED)
    asked_of(tmp_path / "links", monkeypatch)

    with pytest.raises(ReleaseError, match="the index has other releases, not this one"):
        download([a_release()], Shelf(tmp_path / "cache"))


@pytest.mark.parametrize(
    "said",
    [
        "WARNING: Retrying after connection broken by 'NewConnectionError': Failed to establish a new connection",
        "ERROR: Could not find a version that satisfies the requirement shop==1.0 (from versions: none)",
        "ProxyError('Cannot connect to proxy.')",
        "/bin/python: No module named pip",
    ],
)
def test_no_index_is_no_fault_of_the_dataset(said):
    assert isinstance(refusal(a_release(), said), NotFetchedError)


def test_a_file_that_lost_bytes_below_the_cache_is_not_believed(tmp_path):
    release = a_wheel(tmp_path / "links", "1.0", FAULTY)
    shelf = Shelf(tmp_path / "cache")
    shelf.keep(release, tmp_path / "links" / "shop-1.0-py3-none-any.whl")
    (shelf.put(release) / "shop" / "cart.py").write_text("changed")

    with pytest.raises(NotFetchedError, match="not as it was unpacked"):
        shelf.unpacked(release)


def test_a_truncated_archive_is_one_clear_line(tmp_path):
    a_wheel(tmp_path, "1.0", FAULTY)
    path = tmp_path / "shop-1.0-py3-none-any.whl"
    path.write_bytes(path.read_bytes()[:-40])

    with pytest.raises(ReleaseError, match=r"^shop 1.0: shop-1.0-py3-none-any.whl is truncated or damaged"):
        unpack(path, a_release(), tmp_path / "files")


@pytest.mark.parametrize(
    ("files", "tag", "message"),
    [
        (FAULTY, "cp311-cp311-manylinux_2_17_x86_64", "is no pure-Python wheel"),
        (FAULTY | {"shop/_speedups.so": b"\x7fELF"}, "py3-none-any", "shop/_speedups.so is compiled"),
        (FAULTY | {"../../evil.py": ""}, "py3-none-any", "leads out of the package's folder"),
        (FAULTY | {"/etc/evil.py": ""}, "py3-none-any", "leads out of the package's folder"),
    ],
)
def test_a_wheel_that_no_pure_package_has_is_refused(files, tag, message, tmp_path):
    a_wheel(tmp_path, "1.0", files, tag=tag)

    with pytest.raises(ReleaseError, match=message):
        unpack(tmp_path / f"shop-1.0-{tag}.whl", a_release(), tmp_path / "files")


def test_a_link_in_a_wheel_is_refused(tmp_path):
    link = zipfile.ZipInfo("shop/passwd")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "shop-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(link, "/etc/passwd")

    with pytest.raises(ReleaseError, match="is a link or a device"):
        unpack(tmp_path / "shop-1.0-py3-none-any.whl", a_release(), tmp_path / "files")


def test_more_files_than_any_package_has_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("evals.triage.dataset.package_store.FILES", 3)
    a_wheel(tmp_path, "1.0", FAULTY)

    with pytest.raises(ReleaseError, match="unpacks to more than 3 files"):
        unpack(tmp_path / "shop-1.0-py3-none-any.whl", a_release(), tmp_path / "files")


def an_sdist(folder, files):
    with tarfile.open(folder / "shop-1.0.tar.gz", "w:gz") as packed:
        for name, text in files.items():
            info = tarfile.TarInfo(f"shop-1.0/{name}")
            info.size = len(text)
            packed.addfile(info, io.BytesIO(text.encode()))
    return folder / "shop-1.0.tar.gz"


@pytest.mark.parametrize("prefix", ["", "src/"])
def test_of_an_sdist_comes_what_a_wheel_would_hold(prefix, tmp_path):
    files = {f"{prefix}{name}": text for name, text in FAULTY.items()}
    archive = an_sdist(
        tmp_path, files | {"setup.py": "", "tests/__init__.py": "", "docs/conf.py": "", "PKG-INFO": "Name: shop"}
    )
    unpack(archive, a_release(), tmp_path / "files")

    found = {
        path.relative_to(tmp_path / "files").as_posix() for path in (tmp_path / "files").rglob("*") if path.is_file()
    }
    assert found == {*FAULTY, "shop-1.0.dist-info/METADATA"}


def test_an_sdist_with_c_code_is_refused(tmp_path):
    with pytest.raises(ReleaseError, match=r"its sdist holds shop/_speedups.c"):
        unpack(an_sdist(tmp_path, FAULTY | {"shop/_speedups.c": ""}), a_release(), tmp_path / "files")


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "checkout" / "cassettes").mkdir(parents=True)
    return tmp_path / "checkout"


@pytest.mark.slow
def test_a_dataset_is_fetched_and_proved_by_one_command(checkout, tmp_path, monkeypatch, capsys):
    faulty, mended = (a_wheel(tmp_path / "links", v, f) for v, f in (("1.0", FAULTY), ("1.1", MENDED)))
    a_released_dataset(checkout / "datasets" / "small", faulty, mended)
    asked_of(tmp_path / "links", monkeypatch)
    command = ["dataset", "fetch", "--dataset", "small", "--no-prove", "--root", str(checkout)]

    assert main(command) == 0
    assert "2 of 2 releases are here, 2 fetched just now" in capsys.readouterr().out
    asked_of(tmp_path / "nowhere", monkeypatch)
    assert main(command) == 0
    assert "0 fetched just now" in capsys.readouterr().out


@pytest.mark.parametrize(("there", "code"), [("1.1", 1), (None, 3)])
def test_the_exit_code_says_whether_the_dataset_or_the_index_is_at_fault(there, code, checkout, tmp_path, monkeypatch):
    if there:
        a_wheel(tmp_path / "links", there, MENDED)
    a_released_dataset(checkout / "datasets" / "small", a_release(), None)
    (tmp_path / "links").mkdir(exist_ok=True)
    asked_of(tmp_path / "links", monkeypatch)

    assert main(["dataset", "fetch", "--dataset", "small", "--root", str(checkout)]) == code

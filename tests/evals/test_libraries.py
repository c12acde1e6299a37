"""What is installed, by content: a change is noticed whatever it is called, and nothing is read twice."""

import json
import os
import sys
from types import ModuleType

import pytest

from evals import package_digests as libraries
from evals.package_digests import Libraries, signature
from tests.builders.dataset import write

VERSION = "Metadata-Version: 2.4\nName: {}\nVersion: {}\n"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed packages, of which `thing` is imported."""
    folder = tmp_path / "site-packages"
    module = ModuleType("thing")
    module.__file__ = str(write(folder / "thing" / "__init__.py", "ONE = 1\n"))
    write(folder / "thing-1.0.dist-info" / "METADATA", VERSION.format("thing", "1.0"))
    monkeypatch.setitem(sys.modules, "thing", module)
    monkeypatch.setattr(libraries, "_site", lambda: str(folder))
    monkeypatch.setattr(libraries, "_SITES", (str(folder),))
    monkeypatch.setattr(libraries, "STARTED_NS", signature(folder)[2] + 10**12)
    return folder


@pytest.fixture
def packages(tmp_path, site):
    return Libraries(tmp_path / ".cache", "trials")


def test_what_a_process_imported_is_listed_with_what_its_installer_says(packages, site):
    assert packages.listed() is None
    found = packages.note()

    assert [os.path.relpath(path, site) for path in found.files] == [
        "thing-1.0.dist-info/METADATA",
        "thing/__init__.py",
    ]
    assert packages.listed() == found == packages.note()


def test_a_listing_looks_at_each_file_once(packages, site, monkeypatch):
    looked_at = []
    monkeypatch.setattr(libraries, "signature", lambda path: looked_at.append(str(path)) or signature(path))
    found = libraries._listed(libraries._imported())

    assert [looked_at.count(path) for path in found.files] == [1, 1]


def test_an_edit_in_place_of_equal_size_and_time_is_another_state(packages, site):
    before = packages.note()
    place, times = site / "thing" / "__init__.py", (site / "thing" / "__init__.py").stat()
    place.write_text("ONE = 2\n")
    os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert not before.is_as_it_was
    assert packages.listed() is None
    assert packages.note().digest != before.digest


def test_the_same_content_installed_anew_or_elsewhere_is_the_same(packages, site, tmp_path, monkeypatch):
    """As where CI keeps `.cache` and makes `.venv` again."""
    before = packages.note()
    other = site.rename(tmp_path / "other-site-packages")
    monkeypatch.setattr(libraries, "_site", lambda: str(other))
    os.utime(other / "thing" / "__init__.py")

    assert packages.listed().digest == before.digest


def test_a_package_that_was_written_since_the_process_began_is_not_listed(packages, site, monkeypatch):
    """Nobody knows which text of it was imported."""
    monkeypatch.setattr(libraries, "STARTED_NS", 0)

    assert packages.note() is None


@pytest.mark.parametrize("content", [b"", b"[]", b'{"files": []}', b"\xff"])
def test_a_damaged_list_is_none(packages, content):
    packages.note()
    (packages.cache / "libraries" / "trials.json").write_bytes(content)

    assert packages.listed() is None


def test_another_version_than_the_lock_file_names_is_said_with_the_remedy(packages, site, tmp_path, monkeypatch):
    monkeypatch.setattr(libraries, "__file__", str(tmp_path / "evals" / "libraries.py"))
    write(tmp_path / "requirements.lock", "thing==1.2 ; python_version < '3.12' \\\n    --hash=x\nthing==1.3 \\\n")

    assert packages.note().unlike == (
        "thing 1.0 is installed, requirements.lock names 1.2 or 1.3; `make -B setup` installs that",
    )
    write(site / "thing-1.0.dist-info" / "METADATA", VERSION.format("Thing", "1.3"))
    assert packages.note().unlike == ()


def test_bytecode_older_than_a_changed_source_goes(packages, site):
    """Python would execute it where size and time of the source were set back."""
    compiled = write(site / "thing" / "__pycache__" / f"__init__.{sys.implementation.cache_tag}.pyc", "old")
    packages.note()
    (site / "thing" / "__init__.py").write_text("ONE = 3\n")
    while signature(site / "thing" / "__init__.py")[-1] <= signature(compiled)[-1]:
        (site / "thing" / "__init__.py").touch()  # the system's clock for files has its own pace
    packages.listed()

    assert not compiled.exists()


def test_bytecode_stays_where_another_environment_links_the_same_files(packages, site):
    """As uv does from its cache; without bytecode every start is a quarter slower."""
    source = site / "thing" / "__init__.py"
    compiled = write(site / "thing" / "__pycache__" / f"__init__.{sys.implementation.cache_tag}.pyc", "old")
    found = packages.note()
    while signature(source)[-1] <= signature(compiled)[-1]:
        (site / "link").unlink(missing_ok=True)
        (site / "link").hardlink_to(source)

    assert not found.is_as_it_was
    assert packages.listed().digest == found.digest
    assert compiled.exists()


def test_bytecode_of_content_that_stood_there_for_a_while_goes(packages, site):
    """It was made after the list, of a source that has since been put back, size and time included."""
    source = site / "thing" / "__init__.py"
    before = packages.note()
    listed = signature(packages.cache / "libraries" / "trials.json")[-1]
    compiled = write(site / "thing" / "__pycache__" / f"__init__.{sys.implementation.cache_tag}.pyc", "other")
    while signature(compiled)[-1] <= listed:
        compiled.touch()
    while signature(source)[-1] <= signature(compiled)[-1]:
        source.touch()

    assert packages.listed().digest == before.digest
    assert not compiled.exists()


def test_a_list_that_cannot_be_written_is_made_again(site, tmp_path):
    (tmp_path / "file").touch()

    assert Libraries(tmp_path / "file", "trials").note() is not None


def test_the_list_on_disk_names_no_folder_of_the_machine(packages, site):
    packages.note()
    told = json.loads((packages.cache / "libraries" / "trials.json").read_text())

    assert told["files"] == ["thing-1.0.dist-info/METADATA", "thing/__init__.py"]


def test_the_list_grows_by_what_is_imported_later(packages, site, monkeypatch):
    """Trials import some packages only when they need them, and not every worker runs the same trials."""
    before = packages.note()
    later = ModuleType("later")
    later.__file__ = str(write(site / "later" / "__init__.py", "TWO = 2\n"))
    monkeypatch.setitem(sys.modules, "later", later)
    monkeypatch.delitem(sys.modules, "thing")
    after = packages.note()

    assert [os.path.relpath(path, site) for path in after.files if path not in before.files] == ["later/__init__.py"]
    assert set(before.files) < set(after.files)
    assert after.extends(before)
    assert not before.extends(after)


def test_a_list_that_grows_is_as_if_made_at_once_and_reads_only_what_is_new(packages, site, monkeypatch):
    packages.note()
    other = ModuleType("other")
    other.__file__ = str(write(site / "other.py", "TWO = 2\n"))
    monkeypatch.setitem(sys.modules, "other", other)
    read, content = [], libraries._content
    monkeypatch.setattr(libraries, "_content", lambda path, signed: read.append(path) or content(path, signed))
    grown = packages.note()

    assert read == [other.__file__]
    at_once = libraries._listed(grown.files)
    assert (grown.digest, grown.state, grown.contents, grown.unlike) == (
        at_once.digest,
        at_once.state,
        at_once.contents,
        at_once.unlike,
    )


def test_a_longer_list_whose_earlier_files_have_changed_does_not_extend_the_earlier_one(packages, site, monkeypatch):
    before = packages.note()
    (site / "thing" / "__init__.py").write_text("ONE = 4\n")

    assert not packages.note().extends(before)

"""A template is compiled once, and again when anything has changed that decides what becomes of it."""

import pytest
from jinja2 import DictLoader, Environment

from evals.report.html_page import Compiled


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """What a process that begins now prints, and whether it had to compile."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)

    def show(template="Hello {{ name }}", rests_on=b"autoescape", folder=tmp_path / "kept"):
        compiled = []
        environment = Environment(
            autoescape=True, loader=DictLoader({"page": template}), bytecode_cache=Compiled(folder, rests_on)
        )
        compile_it = environment.compile
        monkeypatch.setattr(environment, "compile", lambda *words: compiled.append(words) or compile_it(*words))
        return environment.get_template("page").render(name="you"), bool(compiled)

    return show


def test_what_one_process_compiled_the_next_one_reads(shown):
    assert [shown(), shown()] == [("Hello you", True), ("Hello you", False)]


def test_an_edited_template_is_compiled_anew(shown):
    shown()
    assert shown(template="Bye {{ name }}") == ("Bye you", True)


def test_a_template_is_compiled_anew_when_others_say_how(shown):
    shown()
    assert shown(rests_on=b"no autoescape") == ("Hello you", True)


def test_a_damaged_entry_is_none(shown, tmp_path):
    shown()
    for path in (tmp_path / "kept").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"Hello", b"Hallo"))
    assert shown() == ("Hello you", True)


def test_where_nothing_can_be_kept_it_is_compiled_each_time(shown, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert [shown(folder=tmp_path / "file") for _ in range(2)] == [("Hello you", True)] * 2


def test_where_python_keeps_no_bytecode_nothing_is_kept(shown, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert shown() == ("Hello you", True)
    assert not (tmp_path / "kept").exists()

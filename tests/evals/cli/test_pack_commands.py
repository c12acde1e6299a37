"""Commands that the pack of a project adds: to the command line, and to a group of the core."""

import subprocess
import sys

import pytest
from typer.main import get_command

from evals import application_pack as pack_module
from evals.cli.main import all_commands, command_line, main
from tests.builders.checkout import REPOSITORY
from tests.builders.command import command
from tests.builders.dataset import write

PACK = """
import typer

from evals.cli.options import given
from evals.triage.pack import TriagePack

shop = typer.Typer()


@shop.command("price")
def price(context: typer.Context):
    '''Say a price.'''
    print("price of", given(context).root)
    return 3


stock = typer.Typer()


@stock.command("stock")
def count():
    '''Count the stock.'''
    print("stock")


class Pack(TriagePack):
    commands = {
        "price": ("a_shop_pack", "shop", "Say a price."),
        "routes stock": ("a_shop_pack", "stock", "Count the stock."),
    }


PACK = Pack()
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose pack is a module of its own."""
    write(tmp_path / "a_shop_pack.py", PACK)
    write(tmp_path / "evals.toml", 'pack = "a_shop_pack"\n')
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("a_shop_pack", None)
    pack_module._load.cache_clear()


@pytest.mark.parametrize("root", ["--root {}", "--root={}"])
def test_a_command_of_the_pack_that_the_root_names_runs_with_its_exit_code(project, capsys, root):
    assert main(["price", *root.format(project).split()]) == 3
    assert capsys.readouterr().out == f"price of {project}\n"


def test_a_group_of_the_core_has_the_command_that_the_pack_adds(project, monkeypatch, capsys):
    monkeypatch.chdir(project)

    assert main(["routes", "stock"]) == 0
    assert capsys.readouterr().out == "stock\n"


def test_the_commands_of_another_pack_are_not_there(project, monkeypatch, capsys):
    monkeypatch.chdir(project)

    assert main(["sweep"]) == 2
    assert "`evals sweep` is a command of evals.triage.pack; this project has another pack" in capsys.readouterr().err


def test_settings_that_cannot_be_read_are_one_line(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    write(project / "evals.toml", "pack = \n")

    assert main(["--help"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def loaded_for_help(folder):
    """The modules that `evals --help` loads there."""
    code = "import sys, evals.cli.main as cli; cli.main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return done.stderr.split()


def test_an_option_alone_does_not_load_the_pack_of_any_graph():
    assert "evals.target.pack" not in loaded_for_help(REPOSITORY)


def test_the_help_of_a_target_loads_its_pack_without_its_trials(tmp_path):
    write(tmp_path / "evals.toml", "[target]\n")
    loaded = loaded_for_help(tmp_path)

    assert "evals.target.pack" in loaded
    assert "evals.target.target_trials" not in loaded


def lines_of_commands():
    """The words of every command of this checkout."""
    known = all_commands()
    left, found = [((), get_command(command_line(known, *known)))], []
    while left:
        words, one = left.pop()
        left += [((*words, name), below) for name, below in getattr(one, "commands", {}).items()]
        found.append(words)
    return sorted(found)


@pytest.mark.parametrize("words", lines_of_commands(), ids=" ".join)
def test_every_command_explains_itself(words):
    said = command(*words, "--help")

    assert (said.code, said.err) == (0, "")
    assert "Usage: " in said.out

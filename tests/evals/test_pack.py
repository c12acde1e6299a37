"""A pack is whole when it is loaded: what it leaves out has a default."""

import ast
import inspect
import sys

import pytest

from evals import application_pack
from evals.application_pack import REQUIRED, load_pack
from evals.errors import ConfigurationError

MINE = """
from evals.application_pack import Pack


class Mine(Pack):
    prompt_folder = version_folder = "prompts"
    own_endpoint = True

    def load_cases(self, datasets):
        return {}


PACK = Mine()
"""


def test_a_pack_that_lacks_a_member_is_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "half_a_pack.py").write_text(MINE)
    try:
        with pytest.raises(
            ConfigurationError, match=r"^pack half_a_pack: it lacks folder, code_files, .*; see evals/application_pack"
        ) as said:
            load_pack("half_a_pack")
    finally:
        sys.modules.pop("half_a_pack", None)

    lacks = str(said.value).partition("lacks ")[2].partition(";")[0].split(", ")
    assert set(lacks) == set(REQUIRED.split()) - {"prompt_folder", "version_folder", "own_endpoint", "load_cases"}


def test_required_is_what_has_no_value_and_no_body():
    tree = ast.parse(inspect.getsource(application_pack.Pack))
    functions = (node for node in tree.body[0].body if isinstance(node, ast.FunctionDef))
    names = [node.name for node in functions if len(node.body) == 1]
    names += [node.target.id for node in tree.body[0].body if isinstance(node, ast.AnnAssign) and node.value is None]

    assert sorted(REQUIRED.split()) == sorted(names)

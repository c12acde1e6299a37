"""Gold is where the code differs, by outermost definition."""

from evals.triage.dataset.derive_gold import derive_gold
from tests.builders.dataset import CART, write


def _gold(tmp_path, before, after, name="pkg/mod.py"):
    write(tmp_path / "clean" / "keep.py", "")
    write(tmp_path / "patched" / "keep.py", "")
    for tree, text in (("clean", before), ("patched", after)):
        if text is not None:
            write(tmp_path / tree / name, text)
    return derive_gold(tmp_path / "clean", tmp_path / "patched")


def test_a_change_outside_any_definition_names_only_the_file(tmp_path):
    gold = _gold(tmp_path, CART, CART.replace("TAX = 0.2", "TAX = 2"))

    assert (gold.files, gold.functions) == (("pkg/mod.py",), ())


def test_a_removed_function_is_gold(tmp_path):
    assert _gold(tmp_path, "def f():\n    pass\n", None).functions == ("pkg/mod.py::f",)


def test_a_file_that_is_no_python_has_no_functions(tmp_path):
    gold = _gold(tmp_path, "a: 1\n", "a: 2\n", name="conf.yaml")

    assert (gold.files, gold.functions) == (("conf.yaml",), ())

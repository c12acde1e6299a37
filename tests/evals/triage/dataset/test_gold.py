"""Gold is where the code differs, by outermost definition."""

from evals.triage.dataset.gold_labels import derive_gold
from tests.builders.dataset import CART, write


def _gold(tmp_path, before, after, name="pkg/mod.py"):
    write(tmp_path / "clean" / "keep.py", "")
    write(tmp_path / "patched" / "keep.py", "")
    for tree, text in (("clean", before), ("patched", after)):
        if text is not None:
            write(tmp_path / tree / name, text)
    return derive_gold(tmp_path / "clean", tmp_path / "patched")


def _functions(tmp_path, change, to):
    return _gold(tmp_path, CART, CART.replace(change, to)).functions


def test_a_changed_function_is_named_with_its_path(tmp_path):
    assert _functions(tmp_path, "sum(prices)\n", "max(prices)\n") == ("pkg/mod.py::net_total",)


def test_a_nested_function_counts_as_the_outermost_definition(tmp_path):
    assert _functions(tmp_path, "amount * (1 + TAX)", "amount") == ("pkg/mod.py::Cart",)


def test_an_initialiser_counts_as_its_class(tmp_path):
    assert _functions(tmp_path, "list(prices)", "prices") == ("pkg/mod.py::Cart",)


def test_a_removed_line_is_looked_up_in_the_clean_source(tmp_path):
    assert _functions(tmp_path, '    """The sum without tax."""\n', "") == ("pkg/mod.py::net_total",)


def test_a_change_outside_any_definition_names_only_the_file(tmp_path):
    gold = _gold(tmp_path, CART, CART.replace("TAX = 0.2", "TAX = 2"))

    assert (gold.files, gold.functions) == (("pkg/mod.py",), ())


def test_a_decorator_belongs_to_its_function(tmp_path):
    gold = _gold(tmp_path, "@a\ndef f():\n    pass\n", "@b\ndef f():\n    pass\n")

    assert gold.functions == ("pkg/mod.py::f",)


def test_a_definition_under_a_module_level_if_is_outermost(tmp_path):
    gold = _gold(tmp_path, "if X:\n    def f():\n        return 1\n", "if X:\n    def f():\n        return 2\n")

    assert gold.functions == ("pkg/mod.py::f",)


def test_a_blank_line_touches_nothing(tmp_path):
    assert _functions(tmp_path, "return sum(prices)\n", "\n    return sum(prices)\n") == ()


def test_a_removed_function_is_gold(tmp_path):
    assert _gold(tmp_path, "def f():\n    pass\n", None).functions == ("pkg/mod.py::f",)


def test_a_file_that_is_no_python_has_no_functions(tmp_path):
    gold = _gold(tmp_path, "a: 1\n", "a: 2\n", name="conf.yaml")

    assert (gold.files, gold.functions) == (("conf.yaml",), ())


def test_equal_trees_have_no_gold(tmp_path):
    assert _gold(tmp_path, CART, CART).files == ()

"""Limits on the structure of the source code, and the measurements on a tree whose numbers are known."""

import importlib

import pytest

from tests.structure import (
    ROOT,
    TRACED_OPTION,
    added_since,
    dependencies,
    duplicate_classes,
    entered,
    main,
    make_targets,
    parameters_of,
    shared_basenames,
    source_files,
    with_one_importer,
)

MOST_LINES = 65_200
"""Of source in both packages, without features that came later (`LATER` in `tests/structure.py`). Lower it when the
code gets shorter; raise it only with a reason in the commit."""
TREE = {
    "evals/__init__.py": "",
    "evals/plan.py": "from evals.steps import Step\n\n\nclass Step:\n    pass\n",
    "evals/steps.py": "class Step:\n    pass\n\n\nclass _Own:\n    pass\n\n\ndef run(cases, *, trial_timeout): ...\n",
    "evals/core/__init__.py": "",
    "evals/core/plan.py": "import evals.plan\n\n\nclass _Own:\n    pass\n",
    "triage/__init__.py": "from evals import plan\n",
    "triage/single.py": "",
}


@pytest.fixture
def tree(tmp_path):
    for path, text in TREE.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def files():
    return source_files(ROOT)


def test_at_most_5_public_class_names_are_defined_more_than_once(files):
    assert len(duplicate_classes(files)) <= 5, duplicate_classes(files)


def test_at_most_20_files_share_a_basename(files):
    assert len(shared_basenames(files)) <= 20, shared_basenames(files)


def test_the_source_stays_within_its_number_of_lines(files):
    added = {each.path for each in added_since(files)}

    assert sum(each.lines for each in files if each.path not in added) <= MOST_LINES


def test_the_core_has_at_most_20_dependencies_and_make_at_most_12_targets():
    assert dependencies(ROOT) <= 20
    assert len(make_targets(ROOT)) <= 12


def test_a_file_is_entered_when_a_function_of_it_is_called_and_not_when_it_is_imported(tree, monkeypatch):
    (tree / "evals" / "called.py").write_text("def made(): ...\nmade()\ndef asked(): ...\n")
    monkeypatch.syspath_prepend(str(tree / "evals"))

    assert entered(lambda: importlib.import_module("called"), tree) == set()
    assert entered(lambda: importlib.import_module("called").asked(), tree) == {"evals/called.py"}


def test_the_options_of_a_run_travel_as_one_request(files):
    """A run option is named where it is typed, where it is kept, and where it is used."""
    assert [each.path for each in files if TRACED_OPTION in each.text] == [
        "evals/cli/run_command.py",
        "evals/models/run_request.py",
        "evals/runner/trials.py",
    ]


def test_files_of_one_name_are_found_without_package_files(tree):
    assert shared_basenames(source_files(tree)) == ["evals/core/plan.py", "evals/plan.py"]


def test_public_classes_of_one_name_are_found(tree):
    assert duplicate_classes(source_files(tree)) == {"Step": ["evals/plan.py", "evals/steps.py"]}


def test_a_module_with_one_importer_is_found_and_one_with_two_or_none_is_not(tree):
    assert with_one_importer(source_files(tree)) == ["evals.steps"]


def test_the_functions_that_take_a_parameter_are_found_with_their_number_of_parameters(tree):
    assert parameters_of("trial_timeout", source_files(tree)) == {"evals.steps.run": 2}


def test_a_folder_without_the_packages_is_refused(tmp_path, capsys):
    assert main(str(tmp_path)) == 2
    assert capsys.readouterr().err.startswith("usage: python -m tests.structure")


def test_the_table_is_printed_for_another_checkout(tree, capsys):
    (tree / "pyproject.toml").write_text('[project]\ndependencies = ["httpx"]\n', encoding="utf-8")
    (tree / "Makefile").write_text("eval: a  ## Judge\n", encoding="utf-8")

    assert main(str(tree)) == 0
    assert "| runtime dependencies of the core | 1 |\n| make targets | 1 |\n" in capsys.readouterr().out

"""The import graph of modules: what is followed, and what is not."""

from evals.comparison.baseline import imported_by
from tests.builders.dataset import write


def names(package, *modules, **how):
    found = imported_by([package / module for module in modules], package, **how)
    return [path.relative_to(package).as_posix() for path in found]


def test_imports_are_followed_through_packages_functions_and_names_that_are_modules(tmp_path):
    package = tmp_path / "evals"
    write(package / "start.py", "from evals.a import b, CONSTANT\ndef run():\n    import evals.lazy\n")
    write(package / "a" / "__init__.py", "from evals.a.inner import CONSTANT\n")
    write(package / "a" / "b.py", "import json\ntry:\n    from evals import tried\nexcept ImportError:\n    pass\n")
    for name in ("a/inner.py", "lazy.py", "tried.py", "unrelated.py"):
        write(package / name, "")

    assert names(package, "start.py") == ["a/__init__.py", "a/b.py", "a/inner.py", "lazy.py", "start.py", "tried.py"]


def test_imports_for_the_type_checker_and_named_packages_are_not_followed(tmp_path):
    package = tmp_path / "evals"
    write(
        package / "start.py",
        "if TYPE_CHECKING:\n    from evals.typed import T\nfrom evals.report.data_frames import frame\n",
    )
    write(package / "typed.py", "")
    write(package / "export" / "frame.py", "")

    assert names(package, "start.py", without=("export",)) == ["start.py"]


def test_modules_that_import_each_other_are_found_once(tmp_path):
    package = tmp_path / "evals"
    write(package / "one.py", "import evals.two\n")
    write(package / "two.py", "import evals.one\n")

    assert names(package, "one.py") == ["one.py", "two.py"]

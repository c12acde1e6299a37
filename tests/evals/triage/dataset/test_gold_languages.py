"""Gold is derived from source code of other languages than Python as well."""

import pytest

from evals.triage.dataset.derive_gold import derive_gold, outermost_names
from evals.triage.report_scorers import ranked_files, ranked_functions
from tests.builders.trace import a_report, a_trace

SOURCES = {
    "cart.go": ("package shop\n\nfunc (c *Cart) Total() int {\n\treturn 1\n}\n\nfunc Free() {\n}\n", {"Cart", "Free"}),
    "cart.ts": (
        "export class Cart {\n  total() {\n    return 1;\n  }\n}\nconst free = () => {\n  };\n",
        {"Cart", "free"},
    ),
    "cart.rs": ("impl Cart {\n    fn total() {\n        return 1\n    }\n}\nfn free() {\n}\n", {"Cart", "free"}),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_touched_method_belongs_to_its_type(name, tmp_path):
    text, names = SOURCES[name]
    for folder, content in (("clean", text), ("patched", text.replace("return 1", "return 2"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(content)

    assert derive_gold(tmp_path / "clean", tmp_path / "patched").functions == (f"{name}::Cart",)
    assert outermost_names(tmp_path / "clean" / name) == names


@pytest.mark.parametrize("path", ["web/View.tsx", "a/cart.rb", "a/Cart.cs", "a/cart.hpp", "a/cart.mjs", "a/cart.cc"])
def test_a_report_names_files_and_functions_of_other_languages(path):
    trace = a_trace(report=a_report(f"{path}::Cart.total", []))

    assert (ranked_files(trace), ranked_functions(trace)) == ((path,), (f"{path}::Cart",))

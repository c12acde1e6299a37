import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.repository import a_repository, an_index
from triage.codebase.chunk import chunks_of
from triage.codebase.embed import MiniLM, VectorCache
from triage.codebase.index import CodebaseIndex
from triage.codebase.search_ranking import fused, passes, worth_of

ROOT = Path(__file__).parents[3]


def found(index, query, k=5):
    return [document.id for document in index.retriever(k).invoke(query)]


def test_the_chunk_that_names_the_thing_comes_first(tmp_path):
    """By words alone here: the builder's vectors know nothing."""
    assert found(an_index(tmp_path), "sendReceipt fails")[0] == "shop/mail.py:1-2"


def test_a_document_says_where_it_stands(tmp_path):
    documents = {document.id: document for document in an_index(tmp_path).retriever().invoke("with_tax")}

    document = documents["shop/tax.py:4-5"]
    assert document.metadata == {"path": "shop/tax.py", "start": 4, "end": 5}
    assert document.page_content.startswith("# shop/tax.py with_tax\ndef with_tax(price):")


def test_code_is_cut_when_it_is_first_asked_for(tmp_path):
    """A trial that ends at its first request searches nothing."""
    before = chunks_of.cache_info().misses
    index = an_index(tmp_path, {"shop/first_asked.py": "def first_asked():\n    return 1\n"})

    assert chunks_of.cache_info().misses == before
    assert [chunk.path for chunk in index.chunks] == ["shop/first_asked.py"]
    assert chunks_of.cache_info().misses == before + 1


def test_a_filter_lets_only_chunks_near_the_query_through(tmp_path):
    """The builder's vectors: a text is near itself and nothing else, whatever words it shares."""
    index = an_index(tmp_path)
    text = index.chunks[0].text

    assert [document.id for document in index.retriever(5, min_score=0.9).invoke(text)] == [index.chunks[0].id]
    assert len(index.retriever(5, min_score=0.0).invoke(text)) > 1


def test_a_chunk_exactly_on_the_filter_passes():
    """1 - 0.8 is a little less than 0.2 for a computer."""
    assert passes(distance=0.8, min_score=0.2)
    assert not passes(distance=0.8001, min_score=0.2)


def test_a_repository_without_any_text_finds_nothing(tmp_path):
    assert found(an_index(tmp_path, {"logo.png": b"\0"}), "logo") == []


def test_a_digest_changes_with_the_content_and_only_with_it(tmp_path):
    here, there = an_index(tmp_path / "here"), an_index(tmp_path / "there")
    other = an_index(tmp_path / "other", {"shop/cart.py": "x = 1\n"})

    assert here.digest == there.digest
    assert here.digest != other.digest


def test_two_indexes_of_one_content_share_what_chroma_holds(tmp_path):
    """Chroma keeps one store per process; filling it twice would return everything twice."""
    first, second = an_index(tmp_path / "a"), an_index(tmp_path / "b")

    assert found(first, "cart", 50) == found(second, "cart", 50)


def test_each_of_two_indexes_of_one_content_knows_all_its_vectors(tmp_path):
    """What is recorded with the second is as complete as with the first."""
    a_repository(tmp_path)
    first, second = (CodebaseIndex.build(tmp_path, MiniLM(VectorCache())) for _ in range(2))
    for index in (first, second):
        found(index, "sendReceipt fails")

    assert len(second.embedder.cache) == len(first.embedder.cache) == len(first.chunks) + 1


def test_equal_chunks_come_in_the_order_of_their_ids(tmp_path):
    """Chroma orders equals by luck."""
    twins = {f"{name}.txt": "the very same words\n" for name in "dbeac"}
    documents = an_index(tmp_path, {**twins, "z.py": "x = 1\n"}).retriever(5).invoke("the very same words")

    assert [document.metadata["path"] for document in documents][:2] == ["a.txt", "b.txt"]


def test_ranks_are_fused_as_published():
    """1 / (60 + rank), summed: second and first beat first and third."""
    assert fused([(0.1, "a"), (0.2, "b"), (0.3, "c")], [(-9, "b"), (-8, "c"), (-7, "a")]) == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("path", "worth"),
    [
        ("shop/cart.py", 1.0),
        ("shop/testing.py", 1.0),
        ("pyproject.toml", 1.0),
        ("README.md", 0.5),
        ("docs/guide.rst", 0.5),
        ("tests/fixtures.py", 0.5),
        ("shop/tests/cart.py", 0.5),
        ("shop/test_cart.py", 0.5),
    ],
)
def test_prose_and_tests_count_half(path, worth):
    assert worth_of(path) == worth


def test_code_comes_before_the_prose_that_words_it_alike(tmp_path):
    words = "the receipt is sent twice\n"
    index = an_index(tmp_path, {"README.md": words, "shop/mail.sh": words})

    assert found(index, words) == ["shop/mail.sh:1-1", "README.md:1-1"]


@pytest.mark.slow
def test_importing_the_package_does_not_load_the_heavy_libraries():
    code = "import sys, triage.codebase.index; sys.exit(bool({'chromadb', 'onnxruntime', 'bm25s'} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=300).returncode == 0


RETRIEVE = """
import sys
from pathlib import Path
from triage.codebase.embed import MiniLM
from triage.codebase.index import CodebaseIndex
retriever = CodebaseIndex.build(Path(sys.argv[1]), MiniLM()).retriever()
for query in ["veto", "which guard", "cart total", "iteration limit", "retry on rate limit",
              "critic verdict", "human answers", "prompt file", "checkpoint", "web search fails"]:
    print([document.id for document in retriever.invoke(query)])
"""


@pytest.mark.slow
def test_two_processes_retrieve_the_same_chunks(tmp_path, capfd, monkeypatch):
    """With the real model, Chroma and BM25, on real source; this process is the second."""
    agents = ROOT / "triage" / "agents"
    source = {name: (agents / name).read_bytes() for name in ("critic.py", "investigator.py", "agent.py")}
    root = a_repository(tmp_path, source)

    other = subprocess.run(
        [sys.executable, "-c", RETRIEVE, str(root)], cwd=ROOT, check=True, capture_output=True, text=True, timeout=120
    )
    monkeypatch.setattr(sys, "argv", ["", str(root)])
    exec(RETRIEVE, {})  # noqa: S102 - the same lines

    assert other.stdout.count("\n") == 10
    assert other.stdout == capfd.readouterr().out


def test_a_document_that_was_changed_is_as_it_was_the_next_time(tmp_path):
    """Rankings are kept; what is handed out is not."""
    retriever = an_index(tmp_path).retriever(1)
    first = retriever.invoke("with_tax")[0]
    first.metadata["path"] = "elsewhere"

    assert retriever.invoke("with_tax")[0].metadata["path"] == "shop/tax.py"


def test_an_index_that_gave_its_memory_back_is_searched_as_before(tmp_path):
    index = an_index(tmp_path)
    before = found(index, "with_tax", 3)
    index.forget()

    assert found(index, "with_tax", 3) == before


def test_memory_that_an_equal_index_still_searches_is_not_given_back(tmp_path):
    """They share a collection, whose name is that of the content."""
    index, other = an_index(tmp_path / "a"), an_index(tmp_path / "b")
    before = found(index, "with_tax", 3)
    other.ranking("total")
    index.forget()

    assert found(other, "with_tax", 3) == before


def a_long_function(name, indent="", lines=60):
    body = "".join(f"{indent}    total += price_of('item number {number} of the order')\n" for number in range(lines))
    return f"{indent}def {name}(self):\n{body}"


TWO_CLASSES = "".join(f"class {name}:\n{a_long_function('add', '    ')}\n\n" for name in ("Cart", "Basket"))


def parts_of(index, symbol):
    return [chunk.id for chunk in index.chunks if chunk.symbol == symbol]


def test_the_rest_of_a_function_is_what_was_not_shown_of_it(tmp_path):
    index = an_index(tmp_path, {"cart.py": a_long_function("total") + a_long_function("other")})
    first, second, *more = parts_of(index, "cart.py::total")

    assert index.rest_of("cart.py::total", [second, "cart.py:999-1000"]) == [first, *more]
    assert index.rest_of("cart.py::total()", [first, *more]) == [second]


@pytest.mark.parametrize("named", ["Cart.add", "add"])
def test_of_two_methods_of_one_name_only_the_one_that_was_shown_has_a_rest(tmp_path, named):
    index = an_index(tmp_path, {"cart.py": TWO_CLASSES})
    first, *more = parts_of(index, "cart.py::Cart.add")

    assert index.rest_of(f"cart.py::{named}", [first]) == more


def test_a_method_has_no_rest_when_one_of_another_class_was_shown(tmp_path):
    index = an_index(tmp_path, {"cart.py": TWO_CLASSES})

    assert index.rest_of("cart.py::Basket.add", parts_of(index, "cart.py::Cart.add")[:1]) == []


@pytest.mark.parametrize("place", ["cart.py::gone", "gone.py::total", "cart.py", "cart.py::", "", "cart.py::short"])
def test_what_is_no_function_or_was_not_cut_has_no_rest(tmp_path, place):
    index = an_index(tmp_path, {"cart.py": "RATE = 1\n" * 300 + a_long_function("total") + "def short(): ...\n"})
    first_of_each = [parts_of(index, symbol)[0] for symbol in ("cart.py", "cart.py::total", "cart.py::short")]

    assert index.rest_of(place, first_of_each) == []


def test_a_function_of_which_nothing_or_all_was_shown_has_no_rest(tmp_path):
    index = an_index(tmp_path, {"cart.py": a_long_function("total")})

    assert index.rest_of("cart.py::total", []) == []
    assert index.rest_of("cart.py::total", parts_of(index, "cart.py::total")) == []

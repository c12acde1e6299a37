"""Lines of a released package on tape: said by reference, resolved at reading, and never quoted in an answer."""

import json

import httpx2
import pytest

from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import drop, load, merge_write, rendered
from evals.cassettes.package_line_references import SourceTree, quoted
from evals.cassettes.player import Tape, playing
from evals.cassettes.recorder import RecordingTransport
from evals.errors import CassetteError, NotFetchedError, RecordingError, SecretFoundError
from evals.recording.batch_files import Answers
from tests.builders.batch import a_line, a_pending, answers
from tests.builders.dataset import write
from tests.builders.interaction import AnLlm, a_chat_answer, a_recorder, an_interaction, ask
from tests.builders.released import CART
from tests.builders.secret import PLANTED

TREE = "shop-1.0-0123456789abcdef"
LINES = CART.split("\n")
SNIPPET = "shop/cart.py:8-15\n```\n# shop/cart.py net_total\n" + "\n".join(LINES[7:15]) + "\n```"


@pytest.fixture
def checkout(tmp_path):
    write(tmp_path / ".cache" / "codebases" / TREE / "shop" / "cart.py", CART)
    write(tmp_path / ".cache" / "codebases" / TREE / "shop" / "wide.py", "TABLE = '" + "x" * 3000 + "'\n")
    return tmp_path


@pytest.fixture
def path(checkout):
    return checkout / "cassettes" / "small" / "case.yaml"


def asking(words):
    return an_interaction(request={"model": "m", "messages": [{"role": "user", "content": words}]})


def tree_of(checkout):
    return SourceTree(checkout / ".cache" / "codebases" / TREE)


def test_no_line_of_the_package_stands_in_the_file(path):
    merge_write(path, [asking(SNIPPET)], tree=TREE)
    text = path.read_text()

    assert "⟦shop/cart.py:8-15 " in text
    assert not [line for line in LINES[7:15] if len(line.strip()) >= 20 and line.strip() in text]


def test_what_was_recorded_is_read_as_it_was_asked(path):
    asked = asking(SNIPPET)
    merge_write(path, [asked], tree=TREE)

    assert load(path).interactions == (asked,)
    assert rendered(load(path)) == path.read_text()


def test_a_file_that_is_written_again_still_says_nothing_of_it(path):
    merge_write(path, [asking(SNIPPET)], tree=TREE)
    merge_write(path, [asking("something else")], tree=TREE)
    drop(path, {(found.key, 0) for found in load(path).interactions if "else" in str(found.request)})

    assert "⟦shop/cart.py:8-15 " in path.read_text()
    assert len(load(path).interactions) == 1


def test_without_the_package_one_line_says_what_to_run(path, checkout):
    merge_write(path, [asking(SNIPPET)], tree=TREE)
    (checkout / ".cache" / "codebases" / TREE).rename(checkout / "gone")

    with pytest.raises(
        NotFetchedError, match=rf"rests on the released package {TREE}, which is not here; run `evals dataset fetch"
    ):
        load(path)


def test_another_text_at_the_place_is_refused_with_its_line(path, checkout):
    merge_write(path, [asking(SNIPPET)], tree=TREE)
    text = path.read_text().replace("cart.py:8-15 ", "cart.py:7-14 ")
    path.write_text(text)

    with pytest.raises(CassetteError, match=r"case.yaml:\d+: shop/cart.py:7-14 .* is not what was recorded"):
        load(path)


def test_a_recording_over_another_release_is_not_added_to(path, checkout):
    merge_write(path, [asking(SNIPPET)], tree=TREE)
    write(checkout / ".cache" / "codebases" / "shop-1.1-0" / "shop" / "cart.py", CART)

    with pytest.raises(CassetteError, match=r"recorded over shop-1.0-0123456789abcdef, the case is about shop-1.1-0"):
        merge_write(path, [asking("more")], tree="shop-1.1-0")


def test_a_line_that_was_cut_to_fit_a_chunk_is_a_reference_too(checkout):
    tree = tree_of(checkout)
    shown = "here:\n" + ("TABLE = '" + "x" * 3000)[:1580]

    assert "xxx" not in tree.folded(shown)
    assert tree.unfolded(tree.folded(shown)) == shown


def test_text_that_spells_a_reference_is_not_taken_for_one(checkout):
    text = "he wrote ⟦shop/cart.py:1-2 0123456789abcdef⟧ in the middle of a line"

    assert tree_of(checkout).unfolded(tree_of(checkout).folded(text)) == text


@pytest.mark.parametrize("start", range(len(LINES)))
def test_any_stretch_of_the_package_comes_back_as_it_was(start, checkout):
    tree = tree_of(checkout)
    for end in range(start, len(LINES) + 1, 3):
        text = "before\n" + "\n".join(LINES[start:end]) + "\nafter"
        assert tree.unfolded(tree.folded(text)) == text


def test_a_file_of_all_other_cases_is_what_it_was():
    cassette = Cassette("case.yaml", [asking(SNIPPET)])

    assert "x_released" not in rendered(cassette)
    assert "net_total" in rendered(cassette)


@pytest.mark.parametrize(("lines", "found"), [(LINES[7:14], "shop/cart.py"), (LINES[8:14], None)])
def test_six_lines_in_a_row_are_a_copy_and_five_are_none(lines, found, checkout):
    """Blanks around them, and lines that say nothing in between, make no difference."""
    answer = {"choices": [{"message": {"content": json.dumps({"reasoning": "\n\n  ".join(lines)})}}]}

    assert quoted(answer, tree_of(checkout)) == found


async def test_what_is_recorded_about_a_package_is_kept_without_its_lines(path):
    """Echoed is the first line of the request only; staged answers say no more than the cassette."""
    transport = RecordingTransport(a_recorder(), AnLlm(lambda _: httpx2.Response(200, json=a_chat_answer("Line 12."))))
    with playing(Tape(Cassette(path, tree=TREE))):
        await ask(transport, SNIPPET)

    assert "⟦shop/cart.py:8-15 " in path.read_text()
    assert load(path).tree == TREE


async def test_an_answer_that_copies_the_package_is_not_recorded(path):
    transport = RecordingTransport(a_recorder(), AnLlm())  # it echoes what it is asked
    tape = Tape(Cassette(path, tree=TREE))
    with (
        playing(tape),
        pytest.raises(RecordingError, match=r"copies 6 lines in a row of shop/cart.py, and is not kept"),
    ):
        await ask(transport, SNIPPET)

    assert not path.exists()
    assert list(path.parent.glob("*arrived*")) == []


def test_in_batch_rounds_such_an_answer_is_asked_again(checkout, tmp_path):
    pending = a_pending("Why?")
    content = json.dumps({"confidence": 1, "note": "\n".join(LINES[7:15])})
    found = Answers.read([answers(tmp_path / "answers.jsonl", [a_line(pending, content)])])

    assert found.reply(pending.custom_id, pending.request, tree_of(checkout)) is None
    assert "copies 6 lines in a row of shop/cart.py, and is asked again" in found.remarks[0]


def test_a_published_address_is_no_secret_and_one_of_the_issue_is(checkout, path):
    """What is only referred to is not kept."""
    key = next(iter(PLANTED.values()))
    write(checkout / ".cache" / "codebases" / TREE / "shop" / "who.py", f"AUTHOR_OF_THIS_MODULE = '{key}'\n")
    merge_write(path, [asking(f"AUTHOR_OF_THIS_MODULE = '{key}'")], tree=TREE)

    assert key not in path.read_text()
    with pytest.raises(SecretFoundError):
        merge_write(path, [asking(f"my key is {key}")], tree=TREE)

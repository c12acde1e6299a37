"""The `evals cassette` commands that read and mend files; nothing is replayed here."""

import json
import subprocess
import sys

import pytest
import vcr

from evals.cassettes.cassette_files import load, merge_write
from evals.cassettes.manifest import write as write_manifest
from tests.builders.checkout import REPOSITORY, a_checkout, evals
from tests.builders.git import committed, git
from tests.builders.interaction import PLANTED, an_interaction
from tests.builders.llm_server import an_llm_server
from tests.evals.cassettes.test_migrations import in_schema_0

HEAVY = "langgraph|langchain_core|chromadb|pandas|openai|scipy"


@pytest.fixture
def checkout(tmp_path):
    """One case with two recorded questions."""
    checkout = a_checkout(tmp_path / "checkout")
    merge_write(cassette_of(checkout), [an_interaction("one"), an_interaction("two", agent="writer")])
    write_manifest(checkout / "cassettes")
    return checkout


def cassette_of(checkout):
    return checkout / "cassettes" / "wrong-sum.yaml"


def test_show_prints_the_conversation_and_counts_it(checkout):
    said = evals(checkout, "cassette", "show", "wrong-sum")

    assert said.code == 0
    assert "[user]\n  one\n" in said.out
    assert said.out.endswith("2 interactions, 22 + 10 tokens\n")


def test_diff_of_two_files_says_what_came(checkout, tmp_path):
    merge_write(tmp_path / "other.yaml", [an_interaction("one"), an_interaction("three")])

    said = evals(checkout, "cassette", "show", "--against", str(cassette_of(checkout)), str(tmp_path / "other.yaml"))

    assert (said.code, said.out.splitlines()[-1]) == (0, "1 came, 1 went")


@pytest.fixture
def history(checkout):
    """The checkout in git: nothing was recorded at `HEAD~1`, one question more since `HEAD`."""
    for words in (("init", "--quiet"), ("add", "datasets")):
        git(checkout, *words)
    git(checkout, "commit", "--quiet", "--message", "cases")
    committed(checkout, "record")
    merge_write(cassette_of(checkout), [an_interaction("three")])
    return checkout


@pytest.mark.parametrize(
    ("revision", "due"),
    [("HEAD", "1 came"), ("HEAD~1", "3 came"), ("HEAD~1..HEAD", "2 came"), ("HEAD..HEAD", "nothing differs")],
)
def test_diff_of_a_case_looks_back_in_git(history, revision, due):
    said = evals(history, "cassette", "show", "--against", revision, "wrong-sum")

    assert (said.code, said.out.splitlines()[-1]) == (0, due), said.err


def test_verify_is_green_where_all_is_well(checkout):
    assert evals(checkout, "cassette", "verify").out == "1 cassettes with 2 interactions: no findings\n"


def test_verify_is_three_with_file_and_line(checkout):
    cassette_of(checkout).write_text(cassette_of(checkout).read_text().replace("count: 2", "count: 4"))

    said = evals(checkout, "cassette", "verify", "--json")

    assert said.code == 3
    assert "cassettes/wrong-sum.yaml:3: x_replay.count says 4" in json.loads(said.out)["findings"][0]


def test_manifest_mends_what_verify_names(checkout):
    merge_write(cassette_of(checkout), [an_interaction("three")])
    assert evals(checkout, "cassette", "verify").code == 3

    assert evals(checkout, "cassette", "tidy").code == 0

    assert evals(checkout, "cassette", "verify").code == 0


def test_tidy_has_nothing_to_rewrite_today(checkout):
    said = evals(checkout, "cassette", "tidy").out

    assert said == "1 cassettes have schema 2\ncassettes/manifest.jsonl lists 1 cassettes\n"


def test_text_withholds_a_file_that_holds_a_secret(checkout):
    path = cassette_of(checkout)
    path.write_text(path.read_text() + f"# {PLANTED['openai_key']}\n")

    said = evals(checkout, "cassette", "show", "--plain", str(path))

    assert said.code == 0
    assert said.out.startswith("(withheld) ")
    assert PLANTED["openai_key"] not in said.out


def test_adopt_takes_a_stock_recording_in(checkout, tmp_path):
    import openai

    stock = tmp_path / "stock.yaml"
    with an_llm_server() as llm, vcr.use_cassette(str(stock)):
        client = openai.OpenAI(api_key="none", base_url=llm.base_url, max_retries=0)
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "three"}])

    said = evals(checkout, "cassette", "adopt", str(stock), "wrong-sum")

    assert said.out == "cassettes/wrong-sum.yaml: 1 of 1 interactions are new\n"
    assert len(load(cassette_of(checkout)).interactions) == 3
    assert evals(checkout, "cassette", "verify").code == 0


MISTAKES = {
    "an unknown case": (("show", "nobody"), 2, "nobody: no cassette of this case and no such file"),
    "an unknown agent": (("show", "wrong-sum", "--agent", "x"), 2, "asked nothing here; these did: critic, writer"),
    "an unknown variant": (("show", "wrong-sum", "--variant", "x"), 2, "no shipped suite runs it on wrong-sum"),
    "no revision": (("show", "wrong-sum", "--against", "nope"), 2, "nope: neither a cassette file nor a revision"),
    "a revision like an option": (
        ("show", "wrong-sum", "--against", "-x"),
        2,
        "-x: neither a cassette file nor a revision",
    ),
    "a case that was never recorded": (("verify", "nobody"), 2, "nobody: no cassette of this case"),
    "no file to print": (("show", "none.yaml", "--plain"), 2, "none.yaml: cannot be read"),
    "a third side": (("merge", "a", "b", "c", "p", "--prefer", "both"), 2, "--prefer both: say ours or theirs"),
    "adopting for nobody": (("adopt", "x.yaml", "nobody"), 2, "nobody: there is no such case"),
    "adopting nothing": (("adopt", "x.yaml", "wrong-sum"), 3, "x.yaml: cannot be read"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_that_says_what_to_do(checkout, mistake):
    words, code, cause = MISTAKES[mistake]

    said = evals(checkout, "cassette", *words)

    assert (said.code, said.out) == (code, "")
    assert cause in said.err
    assert said.err.count("\n") == 1


def test_nothing_recorded_is_not_all_well(tmp_path):
    assert evals(a_checkout(tmp_path), "cassette", "verify").code == 3


def test_an_older_schema_without_a_step_is_three(checkout):
    in_schema_0(cassette_of(checkout))

    said = evals(checkout, "cassette", "tidy")

    assert said.code == 3
    assert "schema 0, which no step leads out of" in said.err


@pytest.mark.slow
@pytest.mark.parametrize("words", [("show", "cassettes/wrong-sum.yaml", "--plain"), ("verify",), ("show", "wrong-sum")])
def test_reading_imports_nothing_heavy(checkout, words):
    """Git runs `show --plain` once per side of every changed file."""
    code = (
        f"import sys; from evals.cli.main import main; code = main(['cassette', *{words!r}]); "
        f"sys.exit(code or ', '.join(set(sys.modules) & set({HEAVY!r}.split('|'))) or 0)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout,
        env={"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")

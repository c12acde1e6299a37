"""`pytest --evals` as people call it: a process of its own in a recorded checkout, with the answer of `evals run`."""

import re
import shutil
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.builders.checkout import REPOSITORY, evals
from tests.builders.example_projects import pytest_at_once
from tests.builders.llm_server import an_llm_server, answering

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

QUICK = ("-p", "no:langsmith_plugin", "-p", "no:anyio", "-p", "no:hypothesispytest")
ALL = 2 * 2 + 3  # cases and variants, and three checks


@pytest.fixture
def here(story, pytester, monkeypatch):
    """The recorded, blessed, green checkout, where pytest is started; its folder `evals` holds a baseline, no code."""
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    shutil.copytree(story[0], pytester.path, dirs_exist_ok=True)
    return pytester.path


@pytest.fixture
def tested(here):
    """A process of pytest with some words, forked."""

    def call(*words):
        code, out, err = pytest_at_once(here, *QUICK, "--junitxml", "mine.xml", *words)
        return pytest.RunResult(code, out.splitlines(), err.splitlines(), 0.0)

    return call


def results(path):
    """Variant and case -> what became of it, and its primary scores; several samples count as their worst."""
    found = {}
    for case in ET.fromstring(path.read_text()).iter("testcase"):  # noqa: S314 - written by this very test
        kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        text = "".join(child.text or "" for child in case.iter("system-out"))
        scores = dict(re.findall(r"^sample 0: (\S+) = (\S+)$", text, re.MULTILINE))
        scores |= {one.get("name"): one.get("value") for one in case.iter("property") if one.get("name") != "evals"}
        kind = {"skipped": "error"}.get(kinds[0], kinds[0]) if kinds else "passed"  # off the tape is an error in pytest
        found[case.get("classname"), case.get("name")] = (kind, {name: f"{float(n):g}" for name, n in scores.items()})
    return found


def agreed(here, done):
    """The exit code of `evals run` on the same checkout, having compared every test with its `junit.xml`."""
    said = evals(here, "run", "tiny.yaml")
    mine, theirs = results(here / "mine.xml"), results(here / "reports" / "latest" / "junit.xml")
    checks = {("tiny", "coverage"), ("tiny", "baseline")}
    exact = {name for name, (kind, _) in mine.items() if kind != "error"}

    assert mine.keys() - checks == theirs.keys()
    assert {name: mine[name][0] for name in theirs} == {name: kind for name, (kind, _) in theirs.items()}
    assert {name: mine[name][1] for name in exact - checks} == {name: theirs[name][1] for name in exact - checks}
    assert (said.code == 0) == (done.ret == 0)
    return said.code


def edit_one_word(here):
    prompt = here / "mine.md"
    prompt.write_text(prompt.read_text().replace("at each step", "at every step"))


@pytest.fixture(scope="module")
def worse(story, tmp_path_factory):
    """The checkout with another prompt, recorded with answers that skip the critic."""
    checkout = shutil.copytree(story[0], tmp_path_factory.mktemp("worse") / "checkout")
    edit_one_word(checkout)
    with an_llm_server(answering(route=("investigator", "codebase_search", "writer"))) as llm:
        assert evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0
    return checkout


@pytest.fixture
def made_worse(here, worse):
    """Where pytest is started: the checkout with the worse prompt."""
    return shutil.copytree(worse, here, dirs_exist_ok=True)


def cut_a_cassette(here):
    path = here / "cassettes" / "wrong-sum.yaml"
    path.write_text(path.read_text()[: path.stat().st_size // 2])


def lose_a_cassette(here):
    (here / "cassettes" / "wrong-sum.yaml").unlink()


def lose_the_baseline(here):
    (here / "evals" / "suites" / "baselines" / "tiny.json").unlink()


def seal(here):
    labels = here / "datasets" / "triage" / "cases" / "wrong-sum" / "case.yaml"
    labels.write_text(yaml.safe_dump(yaml.safe_load(labels.read_text()) | {"split": "holdout"}))
    assert evals(here, "bless", "tiny.yaml").code == 0


CHANGES = {
    "nothing": (lambda here: None, 0, {"passed": ALL}),
    "an edited prompt": (edit_one_word, 3, {"passed": 3, "errors": 4}),
    "a broken cassette": (cut_a_cassette, 3, {"passed": 3, "errors": 4}),
    "a missing cassette": (lose_a_cassette, 3, {"passed": 3, "errors": 4}),
    "no baseline": (lose_the_baseline, 3, {"passed": 5, "errors": 2}),
    "a held-out case": (seal, 0, {"passed": 5}),
}


@pytest.mark.parametrize(("change", "code", "outcomes"), CHANGES.values(), ids=CHANGES)
def test_every_test_says_what_evals_run_says_of_it(here, tested, change, code, outcomes):
    change(here)

    done = tested("--evals", "tiny.yaml")

    done.assert_outcomes(**outcomes)
    assert agreed(here, done) == code


def test_a_worse_prompt_fails_the_tests_that_evals_run_says_it_fails(made_worse, tested):
    done = tested("--evals", "tiny.yaml")

    done.assert_outcomes(passed=ALL - 3, failed=2, errors=1)
    assert agreed(made_worse, done) == 3  # two cases prove no loss


def test_a_failure_is_the_reports_sentence_and_no_traceback(made_worse, tested):
    said = tested("--evals", "tiny.yaml").stdout.str()

    shared = "2 of 2 worse cases diverge at decision 3: critic skipped"
    assert f"route.pass is lower under new than under old ({shared})" in said
    assert "wrong-sum under new fails by P2.critic_before_writer_if_conf<0.85" in said
    assert "evals explain wrong-sum --diff old new --suite tiny.yaml" in said
    assert "`evals run` exits with 3 (cannot judge). Report: reports/pytest/tiny/index.html" in said
    assert "items.py" not in said


def test_what_is_not_recorded_names_the_command_that_records_it(here, tested):
    edit_one_word(here)

    done = tested("--evals", "tiny.yaml", "-k", "new")

    done.assert_outcomes(errors=2, deselected=5)
    done.stdout.fnmatch_lines(["*nobody recorded what was asked at supervisor; *make record SUITE=tiny.yaml*"])


def test_a_broken_cassette_is_named_with_its_line(here, tested):
    cut_a_cassette(here)

    tested("--evals", "tiny.yaml", "-k", "old").stdout.fnmatch_lines(["*cassettes/wrong-sum.yaml:*: *truncated*"])


def test_held_out_cases_are_no_tests_and_said_to_be_left_out(here, tested):
    seal(here)

    done = tested("--evals", "tiny.yaml", "--collect-only", "-q")

    done.stdout.no_fnmatch_line("*::wrong-sum*")
    done.stdout.fnmatch_lines(["evals: tiny: *1 held out*"])
    assert not (here / "datasets" / "holdout.yaml").exists()


def trials(here):
    return len(list((here / ".cache" / "trials").glob("*/*")))


@pytest.mark.parametrize(
    ("words", "passed", "replayed"),
    [(("-k", "old and sum"), 1, 1), (("-k", "sum"), 2, 2), (("tiny::new::wrong-sum",), 1, 2), (("tiny::old",), 2, 2)],
    ids=["-k variant", "-k case", "an id", "a variant's id"],
)
def test_only_what_is_selected_is_replayed(here, tested, words, passed, replayed):
    """Of the candidate the reference as well: what it is held against."""
    shutil.rmtree(here / ".cache" / "trials")

    tested("--evals", "tiny.yaml", *words).assert_outcomes(
        passed=passed, deselected=ALL - passed if "-k" in words else 0
    )
    assert trials(here) == replayed


def test_a_verdict_that_is_selected_alone_is_that_of_the_whole_suite(here, tested):
    shutil.rmtree(here / ".cache" / "trials")

    tested("--evals", "tiny.yaml", "-k", "verdict").assert_outcomes(passed=1, deselected=ALL - 1)
    assert trials(here) == 4


def test_x_stops_at_the_first_and_lf_runs_what_failed_again(made_worse, tested):
    whole = tested("--evals", "tiny.yaml", "-x")
    assert whole.parseoutcomes()["failed"] == 1

    tested("--evals", "tiny.yaml").assert_outcomes(passed=4, failed=2, errors=1)
    again = tested("--evals", "tiny.yaml", "--lf")

    again.assert_outcomes(failed=2, errors=1, deselected=4)
    again.stdout.fnmatch_lines(["run-last-failure: rerun previous 3 failures"])


def test_two_processes_say_the_same_and_replay_nothing_that_is_not_needed(made_worse, tested):
    """pytest-xdist starts pythons of its own, as people do."""
    shutil.rmtree(made_worse / ".cache" / "trials")

    done = tested("--evals", "tiny.yaml", "-n", "2")

    done.assert_outcomes(passed=4, failed=2, errors=1)
    assert trials(made_worse) == 4
    assert agreed(made_worse, done) == 3
    done.stdout.fnmatch_lines(["tiny: Cannot judge new: *", "`evals run` exits with 3 (cannot judge).*"])


def test_files_are_collected_beside_a_suite_only_where_they_are_named(here, tested, pytester):
    pytester.makepyfile(test_mine="def test_mine(): pass")

    tested("--evals", "tiny.yaml").assert_outcomes(passed=ALL)
    tested("--evals", "tiny.yaml", "test_mine.py").assert_outcomes(passed=ALL + 1)
    tested("--evals", "tiny.yaml", "test_mine.py", "-m", "not evals").assert_outcomes(passed=1, deselected=ALL)
    tested("test_mine.py").assert_outcomes(passed=1)


WRONG = {
    "no such suite": (("--evals", "nosuch"), 4, "--evals: no suite 'nosuch': name one of"),
    "no such test": (("--evals", "tiny.yaml", "tiny::new::nosuch"), 2, "no test tiny::new::nosuch; "),
}


@pytest.mark.parametrize(("words", "code", "cause"), WRONG.values(), ids=WRONG)
def test_wrong_use_is_one_line(here, tested, words, code, cause):
    done = tested(*words)

    assert done.ret == code
    assert sum(cause in line for line in (*done.outlines, *done.errlines)) == 1
    assert "Traceback" not in done.stdout.str() + done.stderr.str()


def test_a_baseline_that_cannot_be_read_stops_before_anything_is_replayed(here, tested):
    (here / "evals" / "suites" / "baselines" / "tiny.json").write_text("{")

    done = tested("--evals", "tiny.yaml")

    assert done.ret == 2
    done.stdout.fnmatch_lines(["cannot judge tiny.yaml: *tiny.json: not a baseline*"])


def test_samples_are_tests_of_their_own(here, tested):
    """Under --lf as well: an id with brackets is found again."""
    suite = here / "tiny.yaml"
    suite.write_text(suite.read_text() + "samples: 2\n")
    with an_llm_server() as llm:
        assert evals(here, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0

    whole = tested("--evals", "tiny.yaml", "-v")

    whole.stdout.fnmatch_lines(["tiny::new::wrong-sum[[]1[]] PASSED*"])
    tested("--evals", "tiny.yaml", "tiny::new::wrong-sum[1]").assert_outcomes(passed=1)
    tested("--evals", "tiny.yaml", "tiny::new::wrong-sum").assert_outcomes(passed=2)

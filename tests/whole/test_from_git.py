"""A fixed bug of one's own repository becomes a case that lints, records and replays."""

import re

import pytest

from evals.triage.dataset.checks.text_checks import MARK
from evals.triage.dataset.load_cases import load_cases
from tests.builders.checkout import a_checkout, a_suite, evals
from tests.builders.dataset import write
from tests.builders.llm_server import an_llm_server
from tests.builders.planted import RENAMED, SHOP, a_commit, a_history
from tests.builders.secret import PLANTED

ISSUE = "# Totals are too small\n\nTwo books cost as much as one.\n"
REPRO = "from shop.cart import Cart\n\nassert Cart([1, 2]).total() == 3\n"
ORIGIN = "https://git.example.com/example/shop.git"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout, and beside it the shop's repository with its fix on top."""
    monkeypatch.delenv("EVALS_REPOS", raising=False)
    a_history(tmp_path / "shop", *SHOP, origin=ORIGIN)
    write(tmp_path / "issue.md", ISSUE)
    write(tmp_path / "repro.py", REPRO)
    return a_checkout(tmp_path / "checkout")


def new(checkout, *more, commit="HEAD", repo="shop", issue="issue.md"):
    place = checkout.parent
    words = ("dataset", "new", "totals", "--from-git", str(place / repo), commit)
    return evals(checkout, *words, *(("--issue", str(place / issue)) if issue else ()), *more)


def labelled(checkout):
    """What a person does: every mark out, every label meant."""
    path = checkout / "datasets/triage/cases/totals/case.yaml"
    text = re.sub(rf"(?m)^# {re.escape(MARK)}.*\n", "", path.read_text())
    text = re.sub(rf"  # {re.escape(MARK)}.*", "", text)
    text = re.sub(r"tags: \[.*", "tags: [own]", text)
    path.write_text(re.sub(r'root_cause: ".*"', "root_cause: The first price is left out.", text))


def test_the_case_names_repository_and_commit_and_holds_gold_and_no_path(checkout):
    said = new(checkout, "--repro", str(checkout.parent / "repro.py"))

    assert said.code == 0, said.err
    labels = load_cases(checkout / "datasets")["totals"].labels
    assert (labels.repository, labels.origin.source) == ("example/shop", "git")
    assert labels.gold.whole_names == ("shop/cart.py::Cart.total",)
    assert "no gold: tests/test_cart.py: is a test" in said.out
    written = checkout / "datasets/triage/cases/totals"
    assert sorted(path.name for path in written.iterdir()) == ["case.yaml", "issue.md", "repro.py"]
    assert not any(str(checkout.parent) in path.read_text() for path in written.iterdir())


def test_lint_names_what_is_left_to_decide_and_then_nothing(checkout):
    new(checkout, "--repro", str(checkout.parent / "repro.py"))

    said = evals(checkout, "dataset", "lint", "--case", "totals", "--jobs", "1")
    assert said.code == 1
    assert "nothing_is_left_to_do" in said.out
    labelled(checkout)
    said = evals(checkout, "dataset", "lint", "--case", "totals", "--jobs", "1")
    assert said.code == 0, said.out


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("shop/cart.py\n  functions", "shop/gone.py\n  functions"), "shop/gone.py: is no file of example/shop"),
        (("shop/cart.py::Cart\n", "shop/cart.py::Basket\n"), "no such function or class is defined there"),
        (("category: code", "category: feature"), "category_fits"),
    ],
)
def test_lint_sees_labels_that_do_not_fit_the_code(checkout, change, complaint):
    new(checkout)
    labelled(checkout)
    path = checkout / "datasets/triage/cases/totals/case.yaml"
    assert change[0] in path.read_text()
    path.write_text(path.read_text().replace(*change, 1))

    said = evals(checkout, "dataset", "lint", "--case", "totals", "--jobs", "1")
    assert said.code == 1
    assert complaint in said.out


def test_lint_runs_the_repro_on_both_sides_of_the_fix(checkout):
    new(checkout, "--repro", str(checkout.parent / "repro.py"))
    labelled(checkout)
    write(checkout / "datasets/triage/cases/totals/repro.py", "import shop.cart\n")

    said = evals(checkout, "dataset", "lint", "--case", "totals", "--jobs", "1")
    assert "passes although the bug is in" in said.out


@pytest.mark.parametrize(
    ("repro", "complaint"),
    [
        ("import shop.cart\n", "--repro: passes although the bug is in"),
        ("raise SystemExit(1)\n", "--repro: fails without the bug"),
    ],
)
def test_a_repro_that_shows_nothing_is_refused_and_no_case_is_left(checkout, repro, complaint):
    write(checkout.parent / "bad.py", repro)

    said = new(checkout, "--repro", str(checkout.parent / "bad.py"))
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert complaint in said.err
    assert not (checkout / "datasets/triage/cases/totals").exists()


def test_a_package_below_src_can_be_imported_by_its_repro(checkout):
    a_history(checkout.parent / "settings", *RENAMED)
    a_commit(checkout.parent / "settings", {"src/settings/__init__.py": "MENDED = True\n"})
    write(checkout.parent / "flag.py", "import settings\n\nassert settings.MENDED\n")
    more = ("--repository", "example/settings", "--repro", str(checkout.parent / "flag.py"))

    assert new(checkout, *more, repo="settings").code == 0


def test_it_is_recorded_and_replayed_over_the_code_before_the_fix(checkout):
    new(checkout)
    a_suite(checkout, cases={"ids": ["totals"]})
    with an_llm_server() as llm:
        said = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)

    assert "2 of 2 trials replay exactly" in " ".join(said.out.split()), said.err
    said = evals(checkout, "run", "tiny.yaml", "--verbose")
    assert (said.code, "tiny has no baseline yet" in said.out) == (3, True)
    assert "Localisation over 1 cases whose fix is known (git)" in said.out
    assert "[1:]" in (checkout / "cassettes/totals.yaml").read_text()


@pytest.mark.parametrize(
    ("words", "options", "complaint"),
    [
        ((), {"issue": None}, "--from-git needs --issue FILE"),
        ((), {"issue": "nowhere.md"}, "nowhere.md: is missing"),
        ((), {"commit": "nowhere"}, "has no commit nowhere"),
        ((), {"commit": "HEAD~"}, "is the first commit"),
        ((), {"repo": "nothing"}, "there is no such folder"),
        (("--repro", "nowhere.py"), {}, "--repro nowhere.py: there is no such file"),
        (("--archetype", "feature_request"), {}, "blames no code"),
        (("--archetype", "bug"), {}, "there is no such archetype"),
        (("--codebase", "shop"), {}, "--codebase and --from-git exclude each other"),
        (("--repository", "shop"), {}, "give --repository OWNER/NAME"),
    ],
)
def test_what_is_asked_for_wrongly_is_one_line_and_exit_2(checkout, words, options, complaint):
    said = new(checkout, *words, **options)

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert complaint in said.err
    assert not (checkout / "datasets/triage/cases/totals").exists()


def test_an_option_of_a_fix_without_a_fix_is_one_line(checkout):
    said = evals(checkout, "dataset", "new", "totals", "--issue", "issue.md")

    assert (said.code, "--issue goes with --from-git REPO COMMIT" in said.err) == (2, True)


def test_a_secret_in_the_issue_is_refused(checkout):
    write(checkout.parent / "issue.md", f"{ISSUE}\nMy token is {PLANTED['github_token']}\n")

    said = new(checkout)
    assert said.code == 2
    assert "no secret enters the dataset" in said.err
    assert PLANTED["github_token"] not in said.err

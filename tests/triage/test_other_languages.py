"""`triage run` on source code of other languages, in a folder of a checkout, and in several checkouts."""

import json
import re
from pathlib import Path

import pytest

from evals.triage.imported_jobs import live_job
from tests.builders.at_once import triage_at_once
from tests.builders.desk import AGAIN, NEW, a_desk, triage_at
from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.git import git
from tests.builders.llm_server import answering

ISSUE = "# Ten percent voucher makes the basket dearer\n\nWith a voucher the amount to pay goes up, not down.\n"
FILLER = "\n".join(f"    // Step {n}: amounts are whole cents, so that nothing is lost in rounding." for n in range(12))
METHODS = {
    "add": "this.lines.push(line);",
    "applyVoucher": "this.payable = this.payable * (1 + voucher.percent / 100);",
    "remove": "this.lines = this.lines.filter((line) => line !== old);",
}
BASKET = (
    "export class Basket {\n  lines = [];\n  payable = 0;\n"
    + "".join(f"\n  {name}(given) {{\n{FILLER}\n    {body}\n  }}\n" for name, body in METHODS.items())
    + "}\n"
)
SHOWN = re.compile(r"^(\S+):\d+-\d+\n```\n# \S+ ?(.*)\n((?:.*\n)*?)```", re.MULTILINE)


def reading(agent, body):
    """Answers as `answering` does; the code search names the snippet it was shown that raises the price."""
    told = "\n".join(str(message["content"]) for message in body["messages"])
    found = next(
        (f"{path}::{name}" for path, name, text in SHOWN.findall(told) if "1 + voucher.percent" in text),
        None,
    )
    report = re.search(r"\S+\.ts::[\w.]+", told)
    search = {**WORKER_REPLIES["codebase_search"], "root_cause_location": found}
    written = {**WORKER_REPLIES["writer"], "root_cause_location": report[0] if report else None}
    keywords = {**WORKER_REPLIES["investigator"], "keywords_for_search": ["voucher", "percent"]}
    return answering(investigator=keywords, codebase_search=search, writer=written)(agent, body)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    a_desk(tmp_path, monkeypatch)
    (tmp_path / "issue.md").write_text(ISSUE)
    for folder in ("web/services/basket", "web/services/mail", "api/core"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "web/services/basket/basket.ts").write_text(BASKET)
    (tmp_path / "web/services/mail/mail.ts").write_text("export function send(to: string) {\n  return to;\n}\n")
    (tmp_path / "api/core/tax.go").write_text("package core\n\nfunc (t *Tax) Of(n int) int {\n\treturn n\n}\n")
    return tmp_path


def the_report() -> dict:
    return json.loads(Path(".triage/one/report.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("in_git", [False, True])
def test_the_function_at_fault_is_found_in_a_tree_of_typescript(in_git, desk, monkeypatch):
    if in_git:
        git(desk / "web", "init", "--quiet")
    with triage_at(monkeypatch, reading):
        done = triage_at_once("run", "--repo", "web", *NEW)
        told = done.communicate(timeout=300)[1]

    assert done.returncode == 0, told
    assert the_report()["report"]["root_cause_location"] == "services/basket/basket.ts::Basket.applyVoucher"


def test_a_search_can_be_limited_to_a_folder(desk, monkeypatch, capsys):
    """Paths stay relative to the checkout, and a resumed job keeps the folder."""
    with triage_at(monkeypatch, reading) as (triage, _):
        assert triage("run", "--repo", "web", "--path", "services/basket", *NEW) == 0
        assert "services/basket: 1 files" in capsys.readouterr().err
        assert triage("run", *AGAIN) == 0
        assert "services/basket: 1 files" in capsys.readouterr().err
        assert triage("run", *AGAIN, "--path", "services/mail") == 2

    assert "this job was begun with --path services/basket: leave --path out" in capsys.readouterr().err
    assert the_report()["report"]["root_cause_location"] == "services/basket/basket.ts::Basket.applyVoucher"
    assert list(live_job(desk / ".triage/jobs.sqlite", "one").code) == ["services/basket/basket.ts"]


def test_several_checkouts_are_searched_together(desk, monkeypatch, capsys):
    """Their names begin the paths, and the revision of each is said."""
    git(desk / "web", "init", "--quiet")
    git(desk / "web", "add", ".")
    git(desk / "web", "commit", "--quiet", "-m", "start")
    commit = git(desk / "web", "rev-parse", "HEAD").stdout.strip()
    with triage_at(monkeypatch, reading) as (triage, _):
        assert triage("run", "--repo", "web", "--repo", "api", "--path", "web:services", *NEW) == 0
        told = capsys.readouterr().err
        assert triage("run", *AGAIN, "--repo", "web") == 2

    assert f"web: at {commit}\n" in told
    assert "api: no git revision\n" in told
    assert "this job was begun with --repo" in capsys.readouterr().err
    assert the_report()["repository"] == "web, api"
    assert the_report()["report"]["root_cause_location"] == "web/services/basket/basket.ts::Basket.applyVoucher"
    code = live_job(desk / ".triage/jobs.sqlite", "one").code
    assert sorted(code) == ["api/core/tax.go", "web/services/basket/basket.ts", "web/services/mail/mail.ts"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--repo", "web", "--path", "none"), "--path none: does not exist"),
        (("--repo", "web", "--path", "../api"), "--path ../api: is outside the repository"),
        (("--repo", "web", "--repo", "more/web"), "have one name: paths could not tell them apart"),
        (("--repo", "web", "--repo", "none"), "none: no such folder"),
    ],
)
def test_wrong_folders_are_one_line_and_nothing_is_asked(arguments, said, desk, monkeypatch, capsys):
    (desk / "more/web").mkdir(parents=True)
    with triage_at(monkeypatch, reading) as (triage, llm):
        assert triage("run", *arguments, *NEW) == 2

    [line] = capsys.readouterr().err.strip().splitlines()
    assert said in line
    assert llm.asked == []

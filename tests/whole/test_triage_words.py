"""What only the triage graph has says so in one line in a project with a graph of its own."""

import re
import shutil

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied, evals
from tests.builders.unpacked import content_of, parts_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def support(tmp_path_factory):
    """The recorded support desk."""
    return copied("support", tmp_path_factory.mktemp("example"))


@pytest.fixture
def desk(support, tmp_path):
    return shutil.copytree(support, tmp_path / "desk")


OF_TRIAGE = re.compile(
    r"\b(?:guards?|supervisors?|severity|triage|writer|critic|frozen|gold|twins?|repository|vetoe?s?|findings?|overrid\w+)\b"
    r"|IKWr|dataset lint|n/a",
    re.IGNORECASE,
)


def test_report_summary_and_terminal_speak_no_word_of_the_triage_graph(desk):
    _, said = evals(desk, "run", "router", "--verbose")
    page = (desk / "reports/latest/index.html").read_text(encoding="utf-8")
    parts = "".join(part for _, part, _ in parts_of(content_of(page)))
    shown = re.sub(r"<(style|script)\b.*?</\1>|<[^>]*?(?=placeholder|>)", " ", page + parts, flags=re.DOTALL)
    summary = (desk / "reports/latest/summary.md").read_text(encoding="utf-8")

    found = {
        where: OF_TRIAGE.findall(text) for where, text in (("page", shown), ("summary", summary), ("terminal", said))
    }
    assert found == {"page": [], "summary": [], "terminal": []}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("drift", "router"), "no endpoint: name one with --base-url or EVALS_BASE_URL"),
        (("judge", "router"), "suite router asks no judge"),
        (("sweep",), "`evals sweep` is a command of evals.triage.pack; this project has another pack"),
        (("dataset", "show"), "`evals dataset` is a command of evals.triage.pack; this project has another pack"),
        (
            ("run", "router", "--set", "guards=none"),
            "--set guards=none: there is no setting guards; known are trial_timeout",
        ),
        (("plan", "router", "--set", "max_iterations=3"), "there is no setting max_iterations, and no other"),
        (("run", "router", "--case", "charged-twise"), "no such case: charged-twise; did you mean 'charged-twice'?"),
        (("run", "router", "--dataset", "nowhere"), "--dataset nowhere: there is no such folder"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_what_only_the_triage_graph_has_is_one_line(desk, words, says):
    code, said = evals(desk, *words)

    assert (code, says in said, said.count("\n"), "dataset import" in said) == (2, True, 1, False), said


@pytest.mark.parametrize("setting", ["prompt: v2", "supervisor: rules", "guards: none", "confidence_floor: {}"])
def test_a_setting_of_the_triage_graph_in_a_suite_is_refused(desk, setting):
    write(desk / "evaluation/suites/mine.yaml", f"variants: [{{name: v1, config: {{router: v1}}, {setting}}}]\n")
    code, said = evals(desk, "run", "mine")

    name = setting.partition(":")[0]
    assert (code, f"variant v1: `{name}` is no setting of this graph" in said, said.count("\n")) == (2, True, 1), said


@pytest.mark.parametrize("folder", ["evaluation/other", "elsewhere/other"])
def test_a_suite_and_an_option_name_a_dataset_the_same_way(desk, folder):
    """By its name below the folder of cases, or by its path from the root."""
    (desk / folder / "cases").mkdir(parents=True)
    shutil.copy(desk / "evaluation/cases/charged-twice.yaml", desk / folder / "cases/charged-twice.yaml")
    named = folder.removeprefix("evaluation/")
    (desk / "other").mkdir()
    write(desk / "evaluation/suites/mine.yaml", f"dataset: {named}\nvariants: [{{name: v1, config: {{router: v1}}}}]\n")
    write(desk / "evaluation/suites/bare.yaml", "variants: [{name: v1, config: {router: v1}}]\n")
    told = [
        evals(desk, "plan", "mine"),
        evals(desk, "plan", "bare", "--dataset", named),
        evals(desk, "plan", "mine", "--dataset", folder),
    ]

    outcomes = {(code, said.partition(":")[0].replace("bare", "mine")) for code, said in told}
    assert len(outcomes) == 1, told
    assert "1 trial" in told[0][1] or "1 of 1" in told[0][1], told

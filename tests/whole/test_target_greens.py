"""Ways to an undeserved green of a target: what a label says and nothing reads, files that a verdict rests on."""

import os
import sys

import pytest

from evals.comparison.baseline import load_baseline, write_baseline
from tests.builders.dataset import write
from tests.builders.example_projects import copied, copied_after_a_run, evals
from tests.builders.model_server import model_server

pytestmark = pytest.mark.slow

CASES = "evaluation/cases"


def relabelled(project, case, text):
    path = project / CASES / f"{case}.yaml"
    write(path, path.read_text(encoding="utf-8") + text)


def run(project, *words):
    return evals(project, "run", "router", "--jobs", "1", *words)


def bless(project):
    code, said = evals(project, "bless", "router", "--jobs", "1", "--worse", "a test")
    assert code == 0, said


def test_a_canary_that_reaches_the_output_is_worse(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    relabelled(project, "charged-twice", "canary: ZEBRA\n")
    bless(project)
    assert run(project)[0] == 0

    write(project / "evaluation/suites/fresh.yaml", (project / "evaluation/suites/router.yaml").read_text())
    relabelled(project, "only-leaving", "canary: HARBOUR\n")
    code, said = evals(project, "run", "fresh", "--jobs", "1", "--verbose")
    assert code == 3
    assert "the canary of only-leaving reached an output of v1" in said


def edited(project, was, now):
    path = project / "desk/graph.py"
    text = path.read_text(encoding="utf-8")
    assert was in text
    write(path, text.replace(was, now))


REPLIED = '("user", facts)]).content'
HARMLESS = """from evals import scorer


@scorer("reply.harmless", safety=True)
def harmless(case, trace) -> bool:
    'Whether the reply holds no word that must not be in it.'
    return "DAMN" not in trace.output["reply"]
"""


@pytest.fixture
def harmful(tmp_path):
    """A project whose replies are 0 by a safety metric of its own, in every case."""
    project = copied_after_a_run("support", tmp_path)
    relabelled(project, "charged-twice", "canary: ZX-81\n")
    write(project / "evals.toml", (project / "evals.toml").read_text() + 'scorers = ["safety.py"]\n')
    write(project / "safety.py", HARMLESS)
    edited(project, REPLIED, f'{REPLIED} + " DAMN"')
    return project


def test_a_canary_that_leaks_is_new_where_another_safety_metric_was_blessed_at_0(harmful):
    bless(harmful)
    assert run(harmful)[0] == 0
    edited(harmful, '" DAMN"', '" DAMN ZX-81"')
    code, said = run(harmful)

    assert (code, "the canary of charged-twice reached an output of v1" in said) == (1, True), said


def test_a_safety_metric_of_the_project_is_named_where_it_is_0(harmful):
    code, said = run(harmful, "--verbose")
    assert (code, "reply.harmless is 0 in charged-twice under v1" in said) == (3, True), said
    assert "the canary of" not in said

    bless(harmful)
    code, said = run(harmful, "--verbose")
    assert (code, "known since the baseline: reply.harmless is 0 in charged-twice under v1" in said) == (0, True), said
    assert "the canary of" not in said


def test_only_primary_metrics_are_called_as_blessed(harmful):
    """Another one may have fallen beside them."""
    bless(harmful)
    edited(harmful, '" DAMN"', '" DAMN ZX-81"')
    said = run(harmful, "--verbose")[1]
    summary = (harmful / "reports/latest/summary.md").read_text(encoding="utf-8")

    assert "Primary metrics are as blessed in every case: v2, v1." in said
    assert "Same results" not in said
    assert "Against the baseline, primary metrics not listed are as blessed in every case: v2, v1." in summary


def test_a_leak_of_the_reference_alone_is_not_the_candidates(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    relabelled(project, "charged-twice", "canary: ZX-81\n")
    edited(project, "def reply(state: Ticket)", "def reply(state: Ticket, config: RunnableConfig)")
    edited(project, REPLIED, REPLIED + ' + " ZX-81" * (config["configurable"]["router"] == "v2")')
    code, said = evals(project, "compare", "v2", "v1", "--suite", "router", "--jobs", "1")
    assert (code, "note: the canary of charged-twice reached an output of v2" in said) == (0, True), said
    code, said = evals(project, "compare", "v1", "v2", "--suite", "router", "--jobs", "1")
    assert (code, "Worse: the canary of charged-twice reached an output of v2" in said) == (1, True), said

    edited(project, ' * (config["configurable"]["router"] == "v2")', "")
    code, said = evals(project, "compare", "v2", "v1", "--suite", "router", "--jobs", "1")
    assert (code, "note: the canary of charged-twice reached an output of v1, as under v2" in said) == (0, True), said
    (project / "evaluation/baselines/router.json").unlink()
    code, said = evals(project, "bless", "router", "--jobs", "1")
    assert (code, "the canary of charged-twice reached an output of v2" in said) == (2, True), said


def test_steps_and_output_that_a_suite_compares_no_more_are_told(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    suite = project / "evaluation/suites/router.yaml"
    plain = suite.read_text(encoding="utf-8")
    write(suite, plain + "as_blessed: [queue, action, amount]\n")
    bless(project)
    edited(project, 'return {"reply": model', 'return {"queue": "lost", "reply": model')
    code, said = run(project)
    assert (code, "v1 changed in 10 of 10 cases since the baseline" in said) == (3, True), said

    write(suite, plain)
    told = "the suite was blessed with steps and output, and compares them no more"
    for code, said in (run(project), evals(project, "gate")):
        assert (code, told in said) == (3, True), said
    bless(project)
    assert run(project)[0] == 0


@pytest.fixture
def graded(tmp_path):
    """A project with a blessed suite that has a judge."""
    project = copied_after_a_run("support", tmp_path)
    code, said = evals(project, "bless", "replies", "--jobs", "1", "--worse", "fewer cases")
    assert code == 0, said
    code, said = evals(project, "run", "replies", "--jobs", "1")
    assert (code, evals(project, "gate")[0]) == (0, 0), said
    return project


def test_a_judge_that_a_suite_asks_no_more_is_told(graded):
    suite = graded / "evaluation/suites/replies.yaml"
    write(suite, suite.read_text(encoding="utf-8").replace("judge: reply", ""))

    for words in (("run", "replies", "--jobs", "1"), ("gate",)):
        code, said = evals(graded, *words)
        assert (code, "the suite was blessed with a judge, and asks none any more" in said) == (3, True), said


def test_the_gate_says_that_the_judge_is_another_than_when_the_suite_was_blessed(graded):
    path = graded / "evaluation/baselines/replies.json"
    baseline = load_baseline(path)
    asked_with = dict.fromkeys(baseline.judge["asked_with"], "another")
    write_baseline(path, baseline.model_copy(update={"judge": {**baseline.judge, "asked_with": asked_with}}))

    for words in (("gate",), ("run", "replies", "--jobs", "1")):
        code, said = evals(graded, *words)
        assert (code, "the rubric or the model of the judge has changed" in said) == (3, True), said


def test_a_new_candidate_that_violates_a_hard_constraint_is_blessed_for_a_reason_only(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    (project / "evaluation/baselines/router.json").unlink()
    case = project / CASES / "error-402-at-sign-in.yaml"
    write(
        case,
        case.read_text().partition("route:")[0]
        + "route: {constraints: [{id: no-billing, type: absence, a: [billing], hard: true}]}\n",
    )
    refused = evals(project, "bless", "router", "--jobs", "1")

    assert refused[0] == 2
    assert "v1 violates hard constraints that v2 does not in 1 case (no-billing in error-402-at-sign-in)" in refused[1]


def test_a_suite_of_one_variant_with_a_relative_limit_is_blessed_and_then_held_to_it(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    (project / "evaluation/baselines/router.json").unlink()
    suite = project / "evaluation/suites/router.yaml"
    models = suite.read_text().partition("variants:")[0]
    write(suite, models + "variants: [{name: v1, config: {router: v1}}]\ngate: {cost: {steps: +10 %}}\n")
    first = evals(project, "bless", "router", "--jobs", "1")
    assert first[0] == 0, first[1]
    assert run(project)[0] == 0

    graph = project / "desk/graph.py"
    audit = 'builder.add_node("audit", lambda state: {})\nbuilder.add_edge("reply", "audit")\n'
    write(graph, graph.read_text().replace("graph = builder", f"{audit}graph = builder"))
    code, said = evals(project, "run", "router", "--jobs", "1", "--verbose")
    assert (code, "more steps than its baseline" in said) == (3, True), said  # 3: the graph is another, too
    again = evals(project, "bless", "router", "--jobs", "1")
    assert (again[0], "more steps than its baseline" in again[1]) == (2, True), again[1]
    bless(project)


@pytest.mark.parametrize("link", ["prompts/router", "prompts/router/v1.md"])
def test_a_prompt_behind_a_link_out_of_the_project_is_named(tmp_path, link):
    project = copied_after_a_run("support", tmp_path)
    (project / link).rename(tmp_path / "elsewhere.md")
    (project / link).symlink_to(tmp_path / "elsewhere.md")
    code, said = run(project)

    assert (code, "prompts/router/v1.md leads to no file of the project; copy it there" in said) == (2, True), said


def test_a_case_that_must_pass_and_has_no_label_cannot_be_judged(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    write(
        project / CASES / "charged-twice.yaml",
        (project / CASES / "charged-twice.yaml").read_text().partition("expected:")[0] + "must_pass: true\n",
    )
    code, said = run(project)

    assert (code, "charged-twice must pass, and v1 has no score for it" in said) == (3, True), said


def test_a_field_that_must_be_as_blessed_and_is_in_no_output_is_named(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    suite = project / "evaluation/suites/router.yaml"
    write(suite, suite.read_text() + "as_blessed: [quee]\n")
    code, said = run(project)

    assert (code, "as_blessed 'quee': the output has no such field; did you mean 'queue'?" in said) == (3, True), said


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        (
            '["router"]',
            '["rooter"]',
            "evals.toml: routers 'rooter': the graph has no such step; did you mean 'router'?",
        ),
        ('["prompts/router/*.md"]', '["/etc/*.md"]', "prompts: '/etc/*.md' is no pattern from the root"),
    ],
)
def test_a_setting_that_names_nothing_of_the_graph_is_told(tmp_path, was, now, says):
    project = copied_after_a_run("support", tmp_path)
    settings = project / "evals.toml"
    assert was in settings.read_text()
    write(settings, settings.read_text().replace(was, now))
    code, said = run(project)

    assert (code in (2, 3), says in said) == (True, True), said


def test_a_pattern_of_prompts_that_also_matches_folders_finds_the_prompts(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    bless(project)
    settings = project / "evals.toml"
    write(settings, settings.read_text().replace('["prompts/router/*.md"]', '["prompts/**/*"]'))

    assert run(project)[0] == 0


@pytest.mark.parametrize("name", ["other.yml", "deeper/other.yaml"])
def test_a_file_among_the_cases_that_is_none_is_named(tmp_path, name):
    project = copied_after_a_run("support", tmp_path)
    write(project / CASES / name, "inputs: {text: x, account: y}\n")
    code, said = run(project)

    assert (code, f"{name}: is no case; call it cases/other.yaml" in said) == (2, True), said


SCORER = '''
from evals import scorer
{imports}
@scorer("reply.polite", primary=True)
def polite(case, trace) -> bool:
    """Whether a polite word is in the reply."""
    return any(word in trace.output["reply"] for word in {words})
'''
READS = "from pathlib import Path\nread = (Path(__file__).parent / 'words.txt').read_text"


def scored(folder, imports, words, **files):
    """A project with scorers in a package of its own, blessed."""
    project = copied_after_a_run("support", folder)
    write(project / "evals.toml", (project / "evals.toml").read_text() + 'scorers = ["evaluation.scorers"]\n')
    write(project / "evaluation/__init__.py", "")
    write(project / "evaluation/scorers.py", SCORER.format(imports=imports, words=words))
    for name, text in files.items():
        write(project / "evaluation" / name.replace("_", "."), text)
    bless(project)
    assert run(project)[0] == 0
    return project


@pytest.mark.parametrize(
    ("imports", "words"),
    [
        (f"{READS}\nWORDS = read().split()", "WORDS"),
        ("from .lists import WORDS", "WORDS"),
        ("from . import lists", "lists.WORDS"),
        ("from importlib import import_module\nWORDS = import_module('evaluation.lists').WORDS", "WORDS"),
        ('TEXT = """\n# a\nWORDS\n"""', 'TEXT.split()[1:] + ["e"]'),
    ],
)
def test_scorers_with_another_file_or_text_are_other_scorers(tmp_path, imports, words):
    files = {"words_txt": "a e i\n", "lists_py": 'WORDS = ["a", "e"]\n'}
    project = scored(tmp_path, imports, words, **files)
    for name in ("words.txt", "lists.py", "scorers.py"):
        path = project / "evaluation" / name
        write(path, path.read_text().replace("a e i", "a e").replace('"a", "e"', '"e", "a"').replace("# a", "# b"))
    gate = evals(project, "gate")
    code, said = run(project)

    assert (code, "the scorers have changed since the baseline was made" in said) == (3, True), said
    assert gate[0] == 3, gate[1]


@pytest.mark.parametrize("change", ["a limit", "another candidate", "a new case", "no suite"])
def test_the_gate_says_that_the_suite_has_changed_since_the_run(tmp_path, change):
    project = copied_after_a_run("support", tmp_path)
    bless(project)
    assert (run(project)[0], evals(project, "gate")[0]) == (0, 0)
    suite = project / "evaluation/suites/router.yaml"
    if change == "a new case":
        write(project / CASES / "new.yaml", (project / CASES / "charged-twice.yaml").read_text())
    elif change == "no suite":
        suite.unlink()
    elif change == "a limit":
        write(suite, suite.read_text() + "gate: {cost: {calls: 2}}\n")
    else:
        write(suite, suite.read_text().partition("candidate:")[0] + "candidate: v2\nreference: v1\n")
    code, said = evals(project, "gate")

    assert (code, "made before a change of suite router or its choice of cases" in said) == (3, True), said


def test_the_gate_looks_at_what_has_changed_wherever_the_project_keeps_its_reports(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    write(project / "evals.toml", 'reports = "out"\n' + (project / "evals.toml").read_text())
    bless(project)
    assert (run(project)[0], evals(project, "gate")[0]) == (0, 0)
    assert (project / "out/latest/run.json").is_file()
    relabelled(project, "charged-twice", "must_pass: true\n")

    assert evals(project, "gate")[0] == 3


def test_an_unchanged_run_is_judged_again_where_a_file_that_a_scorer_reads_has_changed(tmp_path):
    project = scored(tmp_path, READS, "read().split()", words_txt="a e i\n")
    write(project / "evaluation/words.txt", "nowhere\n")
    code, said = run(project)

    assert (code, "20 reused unchanged" in said, "regression" in said) == (3, True, True), said
    assert "evaluation/words.txt, which the scorers read, changed since the baseline" in said


EITHER = "from pathlib import Path\nFILE = Path(__file__).parent / 'words.txt'"


@pytest.mark.parametrize("change", ["gone", "new"])
def test_a_file_that_scorers_read_and_that_has_gone_or_come_makes_other_scores(tmp_path, change):
    words = "(FILE.read_text().split() if FILE.exists() else ['a', 'e', 'i'])"
    files = {"words_txt": "a e\n"} if change == "gone" else {}
    project = scored(tmp_path, EITHER, words, **files)
    if change == "gone":
        (project / "evaluation/words.txt").unlink()
    else:
        write(project / "evaluation/words.txt", "a e\n")
    code, said = run(project)
    gate = evals(project, "gate")

    assert (code, gate[0]) == (3, 3), said
    assert "evaluation/words.txt, which the scorers read, changed since the baseline" in said
    assert "evaluation/words.txt, which the scorers read, changed since the baseline" in gate[1]


def bytecode_written():
    sys.dont_write_bytecode = False


@pytest.mark.parametrize("name", ["desk/graph.py", "desk/money.py"])
def test_code_of_the_same_size_and_time_is_run_and_not_the_bytecode_beside_it(tmp_path, name):
    project = copied("support", tmp_path)
    if name != "desk/graph.py":  # a module that the graph imports
        graph = project / "desk/graph.py"
        line = 'MONEY = ("refund", "credit", "cancel")\n'
        write(graph, graph.read_text().replace(line, "from desk.money import MONEY\n"))
        write(project / name, line)
    first = evals(project, "run", "router", "--jobs", "1", before=bytecode_written, PYTHONDONTWRITEBYTECODE="")
    assert "lost coverage" not in first[1]
    assert (project / "desk/__pycache__").is_dir()
    code, before = project / name, (project / name).stat()
    write(code, code.read_text().replace('"refund", "credit"', '"rEfund", "credit"'))
    os.utime(code, ns=(before.st_atime_ns, before.st_mtime_ns))
    exit_code, said = run(project)

    assert (exit_code, "lost coverage" in said) == (3, True), said


@pytest.mark.parametrize("place", ["desk/log", "desk/log/incidents.md"])
def test_a_trial_is_run_again_where_what_a_link_leads_to_has_changed(tmp_path, place):
    project = copied_after_a_run("support", tmp_path)
    graph, log = project / "desk/graph.py", project / "desk/log/incidents.md"
    write(graph, graph.read_text().replace('"incidents.md"', '"log" / "incidents.md"'))
    write(log, (project / "desk/incidents.md").read_text())
    (project / place).rename(tmp_path / "elsewhere")
    (project / place).symlink_to(tmp_path / "elsewhere")
    (project / "desk/loop").symlink_to(project)
    assert run(project)[0] in (0, 3)  # 3 where the scorers are not those of the committed baseline
    write(log.resolve(), log.read_text() + "Nothing else.\n")
    code, said = run(project)

    assert (code, "lost coverage" in said) == (3, True), said


def test_trials_of_a_copy_elsewhere_are_found_again(tmp_path):
    """As those of a cache that is restored on another machine."""
    assert "20 reused unchanged" in run(copied_after_a_run("support", tmp_path))[1]


@pytest.mark.parametrize(("was", "now"), [("prompts/technical.md", "prompts/z/technical.md"), ("desk", "desks")])
def test_a_file_or_folder_that_the_graph_no_longer_finds_is_seen(tmp_path, was, now):
    project = copied_after_a_run("support", tmp_path)
    assert run(project)[0] == 0
    (project / now).parent.mkdir(exist_ok=True)
    (project / was).rename(project / now)
    gate = evals(project, "gate")
    code, said = run(project)

    assert (gate[0], "code of evals or of the graph" in gate[1]) == (3, True), gate[1]
    assert code in (2, 3), said


@pytest.mark.parametrize("place", ["", "    "], ids=["at import", "in a node"])
@pytest.mark.parametrize(
    "ask", ["__import__('httpx').get('{}/rate')", "__import__('socket').create_connection(('127.0.0.1', {port}), 9)"]
)
def test_what_a_live_service_answers_is_asked_again_in_every_run(tmp_path, place, ask):
    project = copied_after_a_run("support", tmp_path)
    graph, before = project / "desk/graph.py", '    facts = f"Ticket:' if place else "builder = StateGraph"
    with model_server(lambda *_: "") as (url, asked):
        line = ask.format(url, port=url.rpartition(":")[2])
        write(graph, graph.read_text().replace(before, f"{place}{line}\n{before}"))
        assert ", 0 reused unchanged" in run(project)[1]
        first = len(asked)
        code, said = run(project)

    assert (code, ", 0 reused unchanged" in said) == (0, True), said
    assert len(asked) == 2 * first


@pytest.mark.parametrize(
    "name", ["prompts/router/v1.md", "desk/notes.md", "evaluation/suites/router.yaml", "langgraph.json"]
)
def test_a_file_that_is_no_utf_8_is_named_in_one_line(tmp_path, name):
    project = copied_after_a_run("support", tmp_path)
    path = project / name
    path.write_bytes((path.read_bytes() if path.exists() else b"") + b"\n# \xe9\n")
    code, said = run(project)

    assert (code in (2, 3), path.name in said, "a bug of ours" in said) == (True, True, False), said

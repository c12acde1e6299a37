"""A project's own scorers that end the process, have odd names, or read files while they score; a pack beside them."""

import pytest

from evals.scoring.registry import scorer_infos
from tests.builders.dataset import write
from tests.builders.example_projects import copied_after_a_run, evals

pytestmark = pytest.mark.slow

SCORER = '''
import os, sys
from pathlib import Path
from evals import scorer
{at_import}

@scorer("{name}")
def polite(case, trace) -> bool:
    """Whether a polite word is in the reply."""
    {while_scoring}
    return True
'''


PACK = """
from evals.target.pack import TargetPack


class Mine(TargetPack):
    def at(self, root):
        return Mine(root)

    def load_cases(self, datasets):
        raise {error}


PACK = Mine()
"""


def a_project(folder, at_import="", while_scoring="pass", name="reply.polite"):
    project = copied_after_a_run("support", folder)
    write(project / "evals.toml", (project / "evals.toml").read_text() + 'scorers = ["checks/polite.py"]\n')
    text = SCORER.format(at_import=at_import, while_scoring=while_scoring, name=name)
    write(project / "checks/polite.py", text)
    return project


def run(project, *words):
    return evals(project, "run", "router", "--jobs", "1", *words)


@pytest.mark.parametrize("words", [{"at_import": "os._exit(0)"}, {"while_scoring": "os._exit(0)"}])
def test_a_scorer_that_ends_the_process_is_no_success(tmp_path, words):
    code, said = run(a_project(tmp_path, **words))

    assert (code, "os._exit(0) was called in the middle of the command: nothing was judged" in said) == (3, True), said


@pytest.mark.parametrize("words", [{"at_import": "sys.exit(0)"}, {"while_scoring": "sys.exit(0)"}])
def test_a_scorer_that_exits_cannot_be_judged_by(tmp_path, words):
    code, said = run(a_project(tmp_path, **words))

    assert (code, "checks/polite.py" in said, "SystemExit" in said) == (2 if "at_import" in words else 3, True, True)


@pytest.mark.parametrize("says", ["sys.exit(0)", "1 / 0", "import nosuch"])
def test_a_pack_that_cannot_be_imported_is_one_line(tmp_path, says):
    project = copied_after_a_run("support", tmp_path)
    write(project / "evals.toml", 'pack = "mypack"\n' + (project / "evals.toml").read_text())
    write(project / "mypack.py", f"import sys\n{says}\n")
    code, said = run(project)

    assert (code, "pack mypack" in said, said.count("\n")) == (2, True, 1), said


def test_a_pack_beside_the_settings_is_found(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    write(project / "evals.toml", 'pack = "mypack"\n' + (project / "evals.toml").read_text())
    write(project / "mypack.py", "from evals.target.pack import PACK\n")

    assert evals(project, "bless", "router", "--jobs", "1")[0] == 0
    assert run(project)[0] == 0


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("SystemExit(0)", "the code under test has ended the command (SystemExit: 0)"),
        ("BrokenPipeError(32, 'gone')", "a pipe to another process is broken"),
    ],
)
def test_a_pack_that_exits_while_it_works_is_no_success(tmp_path, error, says):
    project = copied_after_a_run("support", tmp_path)
    write(project / "evals.toml", 'pack = "mypack"\n' + (project / "evals.toml").read_text())
    write(project / "mypack.py", PACK.format(error=error))
    code, said = run(project)

    assert (code, f"{says}: nothing was judged" in said) == (3, True), said


@pytest.mark.parametrize("name", ["", " ", "two words", "line\\nend", "a\\u200bb"])
def test_a_scorer_needs_a_name_without_spaces(tmp_path, name):
    code, said = run(a_project(tmp_path, name=name))

    assert (code, "is no name of a metric; write a word such as reply.polite" in said) == (2, True), said


WORDS = "Path('evaluation/words.txt').read_text().split()"
READS = f"return any(word in trace.output['reply'] for word in {WORDS})"


@pytest.mark.parametrize("words", ["e o\n", None])
def test_a_file_that_scorers_read_while_they_score_is_named_where_it_changed(tmp_path, words):
    project = a_project(tmp_path, while_scoring=READS)
    write(project / "evaluation/words.txt", "a e\n")
    assert evals(project, "bless", "router", "--jobs", "1")[0] == 0
    assert (run(project)[0], evals(project, "gate")[0]) == (0, 0)
    assert "read by scorers: evaluation/words.txt" in (project / "reports/latest/index.html").read_text()

    (project / "evaluation/words.txt").unlink() if words is None else write(project / "evaluation/words.txt", words)
    code, said = evals(project, "gate")
    assert (code, "made before a change of evaluation/words.txt" in said) == (3, True), said
    code, said = run(project)
    assert (code, "evaluation/words.txt, which the scorers read, changed since the baseline" in said) == (3, True), said


def test_scorers_of_two_projects_in_one_process_are_kept_apart(tmp_path, monkeypatch):
    names = []
    for name in ("reply.first", "reply.second"):
        monkeypatch.chdir(a_project(tmp_path / name, name=name))
        names.append([each.name for each in scorer_infos() if each.name.startswith("reply.")])

    assert names == [["reply.first"], ["reply.second"]]

"""An unchanged run is delivered again without being judged; whatever a verdict may hang on asks for a new one."""

from dataclasses import replace

import pytest

from evals.errors import ConfigurationError
from evals.models.run import Scope
from evals.models.run_request import Options
from evals.paths import PACKAGE
from evals.pipeline import kept_verdict
from evals.pipeline import kept_verdict as since
from evals.pipeline.load_suite import baseline_of, load_suite
from evals.pipeline.run_suite import finish
from evals.runner.trials import Trials
from evals.shortcut_switch import SWITCH
from evals.workspace import Workspace
from tests.builders.checkout import a_checkout
from tests.builders.git import committed, git
from tests.builders.trace import a_trace

SCOPE = Scope(cases=2, selected=2)


@pytest.fixture
def chosen(tmp_path, monkeypatch):
    root = a_checkout(tmp_path / "checkout")
    monkeypatch.chdir(root)
    return load_suite("tiny.yaml", root)


@pytest.fixture
def traces(chosen):
    return [a_trace(case_id=case.id, variant=info.variant.name) for case in chosen.cases for info in chosen.variants]


@pytest.fixture
def judged(monkeypatch):
    """What was judged, one entry a time."""
    from evals.pipeline import decide_run

    seen, decide = [], decide_run.decide_scored
    monkeypatch.setattr(decide_run, "decide_scored", lambda *given: seen.append(given) or decide(*given))
    return seen


def delivered(chosen, traces, folder, scope=SCOPE, baseline=None, fresh=False):
    held = replace(chosen, scope=scope, baseline=baseline, request=replace(chosen.request, fresh=fresh))
    run = finish(held, Trials(tuple(traces), reused=0), folder)
    return run, {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_second_time_everything_is_as_it_was_and_nothing_is_judged(chosen, traces, judged, tmp_path):
    first = delivered(chosen, traces, tmp_path / "first")
    second = delivered(chosen, traces, tmp_path / "second")

    assert len(judged) == 1
    assert first == second
    assert sorted(first[1]) == ["index.html", "junit.xml", "run.json", "summary.md"]


def test_a_large_run_is_written_the_same_and_not_kept(chosen, traces, judged, tmp_path, monkeypatch):
    """As one text its files would take more memory than all the rest."""
    first = delivered(chosen, traces, tmp_path / "first", fresh=True)
    monkeypatch.setattr(kept_verdict, "MOST", len(traces) - 1)
    others = [delivered(chosen, traces, tmp_path / name) for name in ("second", "third")]

    assert others == [first, first]
    assert len(judged) == 3


CHANGES = {
    "a label": lambda chosen: replace(chosen, cases=[a_changed_case(chosen.cases[0]), *chosen.cases[1:]]),
    "code a case is about": lambda chosen: replace(
        chosen, cases=[chosen.cases[0].model_copy(update={"digest": "0" * 64}), *chosen.cases[1:]]
    ),
    "a suite's policy": lambda chosen: replace(
        chosen, suite=chosen.suite.model_copy(update={"description": "Another."})
    ),
    "a prompt's text": lambda chosen: replace(
        chosen,
        variants=[chosen.variants[0].model_copy(update={"prompt_text": "Choose."}), *chosen.variants[1:]],
    ),
    "what was asked for": lambda chosen: replace(chosen, unblessed=("--samples 3",)),
    "which part is run": lambda chosen: replace(
        chosen, request=replace(chosen.request, options=Options(variants=("old",)))
    ),
    "the command that records": lambda chosen: replace(chosen, record_command="make record SUITE=other"),
}


def a_changed_case(case):
    return case.model_copy(update={"labels": case.labels.model_copy(update={"root_cause": "Something else."})})


def test_what_was_selected_otherwise_is_judged_anew(chosen, traces, judged, tmp_path, monkeypatch):
    """Each once; whatever was judged before is not judged again."""
    other = [traces[0].model_copy(update={"output": {"comment": "Another."}}), *traces[1:]]
    asked = {
        "the first time": (chosen, traces),
        **{name: (change(chosen), traces) for name, change in CHANGES.items()},
        "another trace": (chosen, other),
        "another scope": (chosen, traces, tmp_path / "out", Scope(cases=3, selected=2)),
    }
    new = []
    for name, (held, found, *scope) in asked.items():
        before = len(judged)
        delivered(held, found, *(scope or [tmp_path / "out"]))
        new += [name] * (len(judged) - before)
    delivered(chosen, traces, tmp_path / "out")
    assert new == list(asked)
    assert len(judged) == len(asked)

    monkeypatch.setattr(kept_verdict, "_code", lambda _: b"a scorer was edited")
    delivered(chosen, traces, tmp_path / "out")
    assert len(judged) == len(asked) + 1
    assert baseline_of(chosen) is None


@pytest.mark.parametrize(
    "edited", ["evals/prices.yaml", "evals/scoring/route_scorers.py", "evals/report/templates/page.html.j2"]
)
def test_the_code_is_all_of_it(edited):
    named = {path.as_posix() for path in since.code_files(Workspace.at(PACKAGE.parent))}

    assert any(path.endswith(edited) for path in named)


def test_a_prompt_that_was_committed_meanwhile_is_judged_anew(chosen, traces, judged, tmp_path):
    """The report compares an edited prompt with the text in git."""
    root = chosen.workspace.root
    (root / "mine.md").write_text((root / "mine.md").read_text() + "\nBe brief.\n")
    git(root, "init", "--quiet", "--initial-branch=main")
    committed(root, "start")
    delivered(chosen, traces, tmp_path / "out")
    (root / "mine.md").write_text((root / "mine.md").read_text() + "\nBe kind.\n")
    edited = load_suite("tiny.yaml", root)
    delivered(edited, traces, tmp_path / "out")
    committed(root, "kind")
    delivered(edited, traces, tmp_path / "out")

    assert len(judged) == 3


def test_whoever_asks_for_everything_gets_it(chosen, traces, judged, tmp_path, monkeypatch):
    delivered(chosen, traces, tmp_path / "out")
    delivered(chosen, traces, tmp_path / "out", fresh=True)
    assert len(judged) == 2

    monkeypatch.setenv(SWITCH, "1")
    delivered(chosen, traces, tmp_path / "out")
    assert len(judged) == 3


def test_a_damaged_entry_is_none(chosen, traces, judged, tmp_path):
    first = delivered(chosen, traces, tmp_path / "out")
    (entry,) = (chosen.workspace.cache / "runs").glob("*/*")
    content = bytearray(entry.read_bytes())
    content[len(content) // 2] ^= 1
    entry.write_bytes(content)

    assert delivered(chosen, traces, tmp_path / "out") == first
    assert len(judged) == 2


def test_a_folder_that_cannot_be_written_is_said_also_of_an_unchanged_run(chosen, traces, tmp_path):
    delivered(chosen, traces, tmp_path / "out")
    (tmp_path / "file").touch()

    with pytest.raises(ConfigurationError, match="cannot be written"):
        delivered(chosen, traces, tmp_path / "file")

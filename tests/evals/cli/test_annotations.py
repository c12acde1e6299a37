"""GitHub annotations: workflow commands, one line each, whatever the sentence holds."""

import pytest

from evals.cli.terminal import MOST, annotations
from tests.builders.run import a_run, a_verdict

PLACE = ("triage/prompts/supervisor/v3.md", 12, 13)


def one(run, change=PLACE):
    (line,) = annotations(run, [change])
    return line


@pytest.mark.parametrize(
    ("status", "code", "level"), [("not worse", 0, "notice"), ("worse", 1, "error"), ("cannot judge", 3, "warning")]
)
def test_the_level_tells_worse_from_cannot_judge(status, code, level):
    assert one(a_run(verdict=a_verdict(status, code, sentence="So it is."))) == (
        f"::{level} file=triage/prompts/supervisor/v3.md,line=12,endLine=13,title={status}::So it is."
    )


def test_a_sentence_cannot_begin_another_command():
    line = one(a_run(verdict=a_verdict("worse", 1, sentence="50 % worse\n::set-env name=PATH::x\r")))

    assert "\n" not in line
    assert line.endswith("::50 %25 worse%0A::set-env name=PATH::x␍")


def test_a_file_name_cannot_add_a_property():
    assert "file=a%2Cline=1%3A%3Ab.md,line=3" in one(a_run(), ("a,line=1::b.md", 3, 3))


def test_what_github_would_not_show_is_counted():
    lines = list(annotations(a_run(), [("v3.md", n, n) for n in range(1, MOST + 4)]))

    assert len(lines) == MOST
    assert lines[-1].endswith("(3 more changed places)")


def test_without_a_changed_line_nothing_is_said():
    assert list(annotations(a_run(), [])) == []

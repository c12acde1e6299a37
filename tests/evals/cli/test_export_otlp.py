"""`evals export otlp`: a stored run as traces in a file or at a receiver."""

import os
import re
import subprocess
import sys

import pytest

from evals.report.run_files import write_report
from evals.shared.secrets import rule as held
from tests.builders.checkout import REPOSITORY
from tests.builders.command import command
from tests.builders.receiver import Answer, a_receiver, request_in, spans_in
from tests.builders.run import a_run, a_trial
from tests.builders.secret import PLANTED
from tests.builders.trace import a_call, a_trace


@pytest.fixture
def stored(tmp_path):
    """A run of two cases under two variants, two calls each."""
    calls = (a_call(), a_call("investigator"))
    trials = [
        a_trial(a_trace(case_id=case, variant=variant, calls=calls))
        for case in ("one", "two")
        for variant in ("v2", "v3")
    ]
    write_report(a_run(*trials), tmp_path)
    os.utime(tmp_path / "run.json", ns=(10**18, 10**18))
    return tmp_path / "run.json"


@pytest.fixture(autouse=True)
def no_headers_of_this_machine(monkeypatch):
    for name in ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    yield
    held.release()


def spans_of(path):
    return [span for line in path.read_text().splitlines() for span in spans_in(request_in(line))]


def roots(spans):
    """Case and variant of each trial's root."""
    told = [{one.key: one.value.string_value for one in span.attributes} for span in spans if not span.parent_span_id]
    return [(one["triage_evals.case"], one["triage_evals.variant"]) for one in told]


def test_a_file_has_a_line_per_trial(stored, tmp_path):
    said = command("export", "otlp", stored, "--out", tmp_path / "t.jsonl")

    assert said.code == 0, said.err
    assert roots(spans_of(tmp_path / "t.jsonl")) == [("one", "v2"), ("one", "v3"), ("two", "v2"), ("two", "v3")]
    assert said.out.startswith("4 traces with 44 spans (8 chat, 32 invoke_agent, 4 invoke_workflow) and 12 events;")
    assert said.out.endswith("t.jsonl\n")


def test_a_part_of_the_run_is_the_same_lines_and_no_others(stored, tmp_path):
    command("export", "otlp", stored, "--out", tmp_path / "all.jsonl")
    command("export", "otlp", stored, "--case", "two", "--variant", "v3", "--out", tmp_path / "part.jsonl")

    assert (tmp_path / "part.jsonl").read_text() == (tmp_path / "all.jsonl").read_text().splitlines(keepends=True)[3]


@pytest.mark.parametrize(
    ("options", "began"), [((), 10**18), (("--began", "2026-11-23T08:00:00.5+02:00"), 1795413600500000000)]
)
def test_trials_begin_when_the_run_was_written_or_when_it_is_told(stored, tmp_path, options, began):
    command("export", "otlp", stored, "--out", tmp_path / "t.jsonl", *options)

    assert {span.start_time_unix_nano for span in spans_of(tmp_path / "t.jsonl") if not span.parent_span_id} == {began}


def test_a_receiver_gets_what_the_file_would_hold(stored, tmp_path):
    command("export", "otlp", stored, "--out", tmp_path / "t.jsonl")
    with a_receiver() as received:
        said = command("export", "otlp", stored, "--endpoint", received.url)

    assert said.code == 0, said.err
    assert received.spans == spans_of(tmp_path / "t.jsonl")
    assert said.out.endswith(f"sent to {received.url}/v1/traces\n")


def test_a_dry_run_counts_the_same_and_leaves_nothing_anywhere(stored, tmp_path):
    before = sorted(tmp_path.iterdir())
    with a_receiver() as received:
        dry = command("export", "otlp", stored, "--endpoint", received.url, "--dry-run")
        wet = command("export", "otlp", stored, "--endpoint", received.url)

    assert dry.out.endswith("; nothing was written or sent\n")
    assert dry.out.partition(";")[0] == wet.out.partition(";")[0]
    assert len(received.requests) == 4
    assert sorted(tmp_path.iterdir()) == before


def test_a_receiver_that_stops_half_way_is_one_line_and_exit_3(stored):
    with a_receiver(Answer(), Answer(400, b"too old", (("content-type", "text/plain"),))) as received:
        said = command("export", "otlp", stored, "--endpoint", received.url)

    assert (said.code, said.out) == (3, "")
    assert said.err.count("\n") == 1
    assert "answered 400 (too old); traces that arrived before: 1, and they are the same when sent again" in said.err


def test_a_receiver_that_takes_nothing_is_said_to_have_refused_and_no_more(stored):
    with a_receiver(Answer(400)) as received:
        said = command("export", "otlp", stored, "--endpoint", received.url)

    assert (said.code, said.err) == (3, f"evals: {received.url}/v1/traces: answered 400\n")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--case", "three"), "--case three: not in this run; it has one, two"),
        (("--variant", "v9"), "--variant v9: not in this run; it has v2, v3"),
        (("--out", "x", "--endpoint", "http://h"), "--out and --endpoint: a file or a receiver; leave one of them out"),
        (("--endpoint", "here"), "--endpoint here: give an address such as http://127.0.0.1:4318"),
        (("--began", "noon"), "--began noon: give a time such as 2026-11-23T08:00:00Z"),
        (("--began", "1969-07-20"), "--began 1969-07-20: spans know times from 1970 to 2500 only"),
        (("--began", "9999-12-31"), "--began 9999-12-31: spans know times from 1970 to 2500 only"),
    ],
)
def test_a_wrong_option_is_one_line_that_says_what_to_do(stored, options, line):
    said = command("export", "otlp", stored, *options)

    assert (said.code, said.out, said.err) == (2, "", f"evals: {line}\n")


def test_a_run_that_is_not_there_says_how_to_make_one(tmp_path):
    said = command("export", "otlp", tmp_path / "run.json", "--out", tmp_path / "t.jsonl")

    assert said.code == 2
    assert "evals run SUITE" in said.err


def test_a_file_that_cannot_be_written_is_said_to_be_the_reason(stored, tmp_path):
    (tmp_path / "folder").mkdir()
    said = command("export", "otlp", stored, "--out", tmp_path / "folder")

    assert said.code == 2
    assert "folder: cannot be written" in said.err


def test_contents_that_are_on_no_tape_are_counted_and_exit_3(stored, tmp_path):
    """The cases of this run were never recorded in this checkout."""
    said = command("export", "otlp", stored, "--content", "--out", tmp_path / "t.jsonl")

    assert said.code == 3
    assert "calls without their words: 8; no cassette of this checkout has them" in said.out
    assert len(roots(spans_of(tmp_path / "t.jsonl"))) == 4


def test_a_key_among_the_headers_arrives_as_one_and_nowhere_else(tmp_path, monkeypatch):
    key = "correct-horse-battery"
    write_report(a_run(a_trial(a_trace(comment=f"They use {key} everywhere."))), tmp_path)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Bearer%20{key}")
    with a_receiver() as received:
        said = command("export", "otlp", tmp_path / "run.json", "--content", "--endpoint", received.url)

    assert received.headers[0]["authorization"] == f"Bearer {key}"
    assert key not in str(received.requests)
    assert key not in said.out + said.err


def test_a_secret_in_a_run_is_withheld_in_its_file(tmp_path):
    run = a_run(a_trial(a_trace(comment=f"use {PLANTED['openai_key']}")))
    (tmp_path / "run.json").write_text("".join(run.sealed().pieces()))
    said = command("export", "otlp", tmp_path / "run.json", "--content", "--out", tmp_path / "t.jsonl")

    assert PLANTED["openai_key"] not in (tmp_path / "t.jsonl").read_text()
    assert "texts withheld, since they hold a secret: 1" in said.out


def test_no_other_command_loads_any_of_it():
    """Nor does the command line itself, until it is asked for."""
    modules = (
        "cli.main",
        "cli.run_command",
        "cli.report_commands",
        "pipeline.decide_run",
        "report.run_files",
        "report.html_page",
    )
    code = "".join(f"import evals.{name};" for name in modules)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    seen = set(re.findall(r"^import time:.*\| +([a-zA-Z_][\w.]*)", done.stderr, flags=re.MULTILINE))

    assert "evals.cli.report_commands" in seen
    assert not {name for name in seen if name.startswith(("evals.otlp", "opentelemetry.exporter", "opentelemetry.sdk"))}

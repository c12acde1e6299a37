"""`evals report`: the files of a stored run, made anew."""

import os
import subprocess
import sys

from evals.report.run_files import write_report
from tests.builders.checkout import REPOSITORY
from tests.builders.command import command
from tests.builders.run import a_run

FILES = ("index.html", "junit.xml", "run.json", "summary.md")


def test_a_stored_run_is_written_again_byte_for_byte(tmp_path):
    write_report(a_run(), tmp_path / "first")

    said = command("report", tmp_path / "first" / "run.json", "--out", tmp_path / "second")

    assert said.code == 0, said.err
    assert sorted(path.name for path in (tmp_path / "second").iterdir()) == sorted(FILES)
    assert all((tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes() for name in FILES)


def test_without_a_folder_the_files_go_beside_the_run(tmp_path):
    write_report(a_run(), tmp_path)
    (tmp_path / "junit.xml").unlink()

    command("report", tmp_path / "run.json")

    assert "<testsuites name=" in (tmp_path / "junit.xml").read_text()


def test_a_missing_run_is_one_line_and_a_usage_error(tmp_path):
    said = command("report", tmp_path / "run.json")

    assert said.code == 2
    assert said.err.startswith(f"evals: {tmp_path / 'run.json'}: cannot be read")


def test_a_folder_where_a_file_should_be_is_named_and_nothing_half_written_stays(tmp_path):
    write_report(a_run(), tmp_path / "first")
    (tmp_path / "second" / "index.html").mkdir(parents=True)

    said = command("report", tmp_path / "first" / "run.json", "--out", tmp_path / "second")

    assert said.code == 2
    assert said.err.startswith(f"evals: {tmp_path / 'second' / 'index.html'}: cannot be written")
    assert [path.name for path in (tmp_path / "second").iterdir()] == ["index.html"]


def test_a_report_loads_neither_the_graph_nor_a_data_frame_nor_statistics(tmp_path):
    """Each takes longer to load than the report to write."""
    write_report(a_run(), tmp_path)
    code = (
        "import sys; from evals.cli.main import main; code = main(sys.argv[1:]);"
        "heavy = {'langgraph', 'chromadb', 'pandas', 'openai', 'scipy', 'numpy'};"
        "print(sorted(heavy & sys.modules.keys())); sys.exit(code)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, "report", str(tmp_path / "run.json")],
        cwd=REPOSITORY,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"

"""`evals view`: a browser that is opened, or a server of this machine alone, as a real process."""

import http.client
import os
import re
import signal
import subprocess
import sys

import pytest

from tests.builders.checkout import REPOSITORY

PAGE = "<!doctype html><title>a report</title>"


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "reports" / "latest"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "secret.txt").write_text("not below the report", encoding="utf-8")
    return tmp_path


def view(checkout, *words, **environment):
    """`evals view` without a display, unless `environment` has one."""
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), **environment}
    return subprocess.Popen(
        [sys.executable, "-m", "evals", "view", *map(str, words)],
        cwd=checkout,
        env=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def get(port, path, host="127.0.0.1"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers={"Host": f"{host}:{port}"})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.fixture
def served(checkout):
    """The process, and the port it names."""
    process = view(checkout)
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
    assert found, (line, process.stderr.read() if process.poll() is not None else "")
    yield process, int(found[1])
    process.kill()
    process.communicate()


def test_a_browser_is_shown_the_last_report(checkout):
    browser = checkout / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {checkout}/asked\n', encoding="utf-8")
    browser.chmod(0o755)

    process = view(checkout, BROWSER=str(browser))
    out, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (0, "")
    assert out == "Opened reports/latest/index.html in a browser.\n"
    assert (checkout / "asked").read_text().strip() == (checkout / "reports/latest/index.html").as_uri()


def test_without_a_browser_the_report_is_served_until_ctrl_c(served):
    process, port = served

    assert get(port, "/") == (200, PAGE)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out == ""


@pytest.mark.parametrize("path", ["/../../secret.txt", "/%2e%2e/%2e%2e/secret.txt", "/index.html/", "/run.json"])
def test_nothing_but_the_page_is_served(served, path):
    assert get(served[1], path)[0] == 404


def test_a_page_of_another_site_cannot_read_the_report(served):
    """A name of that site may be made to mean this machine."""
    assert get(served[1], "/", host="elsewhere.example")[0] == 403


@pytest.mark.parametrize("name", ["reports/latest", "reports/latest/index.html", "reports/latest/run.json"])
def test_a_run_is_named_by_its_folder_or_a_file_in_it(checkout, name):
    process = view(checkout, name)

    assert "http://127.0.0.1:" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_where_there_is_no_report_one_line_says_how_to_make_one(tmp_path):
    process = view(tmp_path)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (2, "")
    assert err == "evals: reports/latest/index.html: no report there; `evals run SUITE` writes one\n"

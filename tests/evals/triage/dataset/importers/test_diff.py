"""What a fix says about where the fault was."""

import pytest

from evals.triage.dataset.imported_issue_files import RefusedRowError, read_fix
from tests.builders.foreign import a_change, a_deleted_file, a_new_file

BINARY = "diff --git a/logo.png b/logo.png\nindex 1111111..2222222 100644\n"
MODES = "diff --git a/a.sh b/a.sh\nold mode 100644\nnew mode 100755\n"
COPY = "diff --git a/a.py b/n.py\nsimilarity index 90%\ncopy from a.py\ncopy to n.py\n--- a/a.py\n+++ b/n.py\n"
HUNK = "@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("patch", "path"),
    {
        "renamed and changed": (a_change("old/a.py", "new/a.py"), "old/a.py"),
        "only renamed": (
            "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n",
            "old.py",
        ),
        "deleted": (a_deleted_file("a.py"), "a.py"),
        "CRLF": (a_change("a.py").replace("\n", "\r\n"), "a.py"),
        "quoted": (f'--- "a/\\303\\274.py"\n+++ "b/\\303\\274.py"\n{HUNK}', "ü.py"),
        "quoted quote": (f'--- "a/say \\"hi\\".py"\n+++ "b/say \\"hi\\".py"\n{HUNK}', 'say "hi".py'),
        "with a blank": (f"--- a/a b.py\t\n+++ b/a b.py\t\n{HUNK}", "a b.py"),
        "without git's header": (f"--- a/a.py\t2026-01-01\n+++ b/a.py\t2026-01-02\n{HUNK}", "a.py"),
        "without prefixes": (f"diff --git x/a.py x/a.py\n--- x/a.py\n+++ x/a.py\n{HUNK}", "x/a.py"),
        "in a folder called a, without prefixes": (f"--- a/a.py\n+++ a/a.py\n{HUNK}", "a/a.py"),
        "in a folder called b": (a_change("b/a.py"), "b/a.py"),
        "without a last newline": (
            "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file",
            "a.py",
        ),
        "a removed comment that looks like a header": (
            "--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1 @@\n--- old\n x\n",
            "a.sql",
        ),
        "a separator inside a line": ("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\x0cb\u2028c\rd\n+b\n", "a.py"),
    }.values(),
    ids=lambda value: value if value.endswith((".py", ".sql")) else "",
)
def test_the_file_is_named_as_it_was_called_before_the_fix(patch, path):
    assert read_fix(patch).files == (path,)


@pytest.mark.parametrize(
    ("patch", "note"),
    {
        "new with CRLF": (
            a_new_file("n.py").replace("\n", "\r\n"),
            "n.py: is new in the fix, so the fault was not in it",
        ),
        "new": (a_new_file("n.py"), "n.py: is new in the fix, so the fault was not in it"),
        "copied": (COPY + HUNK, "n.py: is new in the fix, so the fault was not in it"),
        "binary": (f"{BINARY}Binary files a/logo.png and b/logo.png differ\n", "logo.png: is binary"),
        "binary with its bytes": (
            f"{BINARY}GIT binary patch\nliteral 5\nMcmZ\n\nliteral 4\nLcmZ\n\n",
            "logo.png: is binary",
        ),
        "mode": (MODES, "a.sh: only its mode changes"),
        "submodule": (
            f"diff --git a/lib b/lib\nindex 1111111..2222222 160000\n--- a/lib\n+++ b/lib\n{HUNK}",
            "lib: is a submodule",
        ),
        "test": (a_change("pkg/tests/test_a.py"), "pkg/tests/test_a.py: is a test"),
    }.values(),
)
def test_what_is_no_place_of_the_fault_is_left_out_and_said(patch, note):
    fix = read_fix(a_change("a.py") + patch)

    assert (fix.files, fix.notes) == (("a.py",), (note,))


@pytest.mark.parametrize(
    "path", ["tests/a.py", "test/a.py", "a/tests/b.py", "a/test_b.py", "a/b_test.py", "conftest.py"]
)
def test_a_test_is_told_by_its_name(path):
    assert read_fix(a_change(path)).files == ()


@pytest.mark.parametrize("path", ["django/test/client.py", "pkg/testing.py", "pkg/attest.py", "pkg/contest/a.py"])
def test_what_others_test_with_is_code(path):
    assert read_fix(a_change(path)).files == (path,)


@pytest.mark.parametrize("path", ["../a.py", "a/../../b.py", "/etc/passwd", "C:/a.py", "~/a.py", "a\\..\\b.py"])
def test_a_path_that_leads_out_of_the_repository_is_refused(path):
    with pytest.raises(RefusedRowError, match="outside the repository"):
        read_fix(f"--- a/{path}\n+++ b/{path}\n{HUNK}" if path[0] != "/" else f"--- {path}\n+++ {path}\n{HUNK}")


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("just words\n", "no diff"),
        ("--- a/a.py\n+++ b/a.py\n@@ -1,5 +1,5 @@\n-a\n+b\n", "no whole diff"),
        ("@@ -1 +1 @@\n-a\n+b\n", "no whole diff"),
    ],
)
def test_a_patch_that_says_nothing_is_refused(patch, why):
    with pytest.raises(RefusedRowError, match=why):
        read_fix(patch)

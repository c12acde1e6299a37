"""The documentation: kinds of pages, length, links, and files that it names."""

import re
from functools import cache

import pytest
from typer.main import get_command

from evals.cli.main import all_commands, command_line
from evals.target.pack import TargetPack
from tests.builders.docs_pages import (
    GENERATED_PAGES,
    KINDS,
    ROOT,
    anchors,
    entry_pages,
    is_generated,
    links,
    pages,
    prose,
    words,
)
from triage.cli import app as triage

MOST_WORDS = 20_000
MOST_LINES = {"README.md": 120, "AGENTS.md": 80, "docs/architecture.md": 110}
LARGEST_IMAGE = 150_000
PLACES = re.compile(r"`((?:evals|triage|tests|docs|datasets|\.github)/[\w./-]+?)/?`")
PLACEHOLDER = re.compile(r"\b[A-Z]{4,}\b|\bvN\b")
OLD_WORDS = re.compile(
    r"\b(?:tapes?|sittings?|veto(?:es)?|twins?|frozen states?|primary endpoints?|ways part|redraws?|breach(?:es)?)\b",
    flags=re.IGNORECASE,
)
QUOTED = re.compile(r"\]\([^)]*\)|`[^`]*`|\"[^\"]*\"|\*[^*]+\*")


def named(page):
    return str(page.relative_to(ROOT))


EVERY = [*pages(), *entry_pages()]


@pytest.mark.parametrize("page", pages(), ids=named)
def test_a_page_says_in_its_first_line_which_kind_it_is(page):
    first = page.read_text(encoding="utf-8").splitlines()[0]

    assert re.fullmatch(rf"# .+ \((?:{'|'.join(KINDS)})\)", first)


def test_the_pages_have_at_most_20_000_words():
    assert sum(words(page) for page in pages()) <= MOST_WORDS


@pytest.mark.parametrize(("name", "most"), MOST_LINES.items())
def test_a_page_keeps_its_length(name, most):
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= most


@pytest.mark.parametrize("page", [*EVERY, ROOT / "docs/decisions/README.md"], ids=named)
def test_every_link_leads_to_a_file_and_a_heading_that_exist(page):
    lost = []
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            lost.append(target)

    assert lost == []


@pytest.mark.parametrize("page", EVERY, ids=named)
def test_every_file_of_this_repository_that_a_page_names_exists(page):
    """Names with a placeholder, such as `datasets/triage/notes/CASE.yaml`, are left out."""
    found = {place for line in prose(page) for place in PLACES.findall(line) if not PLACEHOLDER.search(place)}

    assert sorted(place for place in found if not (ROOT / place).exists()) == []


WRITTEN = [page for page in pages() if page.name not in GENERATED_PAGES]


@pytest.mark.parametrize("page", [*WRITTEN, ROOT / "README.md", ROOT / "AGENTS.md"], ids=named)
def test_a_page_uses_the_words_of_the_field(page):
    """Output and definitions of the code are quoted as they are: code, quotations and generated rows are left out."""
    text = "\n".join(QUOTED.sub("", line) for line in prose(page) if not is_generated(line))

    assert OLD_WORDS.findall(text) == []


def test_every_page_is_listed_for_programs_that_read_the_documentation():
    listed = (ROOT / "llms.txt").read_text(encoding="utf-8")

    assert [named(page) for page in pages() if f"({named(page)})" not in listed] == []


def test_every_decision_is_in_the_list_of_decisions():
    folder = ROOT / "docs" / "decisions"
    listed = (folder / "README.md").read_text(encoding="utf-8")

    assert [path.name for path in folder.glob("[0-9]*.md") if f"({path.name})" not in listed] == []


def test_a_picture_is_small_and_named():
    pictures = sorted((ROOT / "docs" / "images").glob("*"))
    shown = [target for page in EVERY for target in links(page)]

    assert pictures
    assert [path.name for path in pictures if path.stat().st_size > LARGEST_IMAGE] == []
    assert [path.name for path in pictures if not any(target.endswith(path.name) for target in shown)] == []


@cache
def options_by_command():
    """Command as it is typed -> its options."""
    known = {**all_commands(), **TargetPack.commands}
    found, waiting = {}, [("evals", get_command(command_line(known, *known))), ("triage", get_command(triage))]
    while waiting:
        name, command = waiting.pop()
        found[name] = {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
        waiting += [(f"{name} {word}", each) for word, each in getattr(command, "commands", {}).items()]
    return found


COMMAND_LINE = re.compile(r"(?:^|`|\$ | {4})(?:\.venv/bin/)?((?:evals|triage) [a-z][^`#|\n]*)")


def unknown(typed):
    """Whether there is no such command, or it has no such option; the words of a command line behind a page's mark."""
    known, words = options_by_command(), typed.split()
    found = [" ".join(words[:size]) for size in (3, 2) if " ".join(words[:size]) in known]
    options = {word.partition("=")[0].rstrip(".,;:)") for word in words if re.match(r"--[a-z]", word)}
    everywhere = known["evals"] if words[0] == "evals" else set()
    is_group = bool(found) and any(name.startswith(f"{found[0]} ") for name in known)
    if is_group and re.match(r"[a-z]", "".join(words[2:3])):
        return True
    return not found or not options <= known[found[0]] | everywhere | {"--help"}


@pytest.mark.parametrize("page", EVERY, ids=named)
def test_every_command_and_option_that_a_page_types_exists(page):
    lines = page.read_text(encoding="utf-8").splitlines()

    assert [typed for line in lines for typed in COMMAND_LINE.findall(line) if unknown(typed)] == []


IN_MESSAGES = re.compile(r"`(?:\.venv/bin/)?((?:evals|triage) [a-z][^`]*)`")


@pytest.mark.parametrize("package", ["evals", "triage"])
def test_every_command_and_option_that_a_message_names_exists(package):
    """Messages and docstrings of the code; `{...}` stands for a name that is filled in."""
    files = [*(ROOT / package).rglob("*.py"), *(ROOT / package).rglob("*.j2")]
    texts = {
        path: re.sub(r"\"\n\s+f?\"", "", path.read_text(encoding="utf-8"))
        for path in files
        if path.name != "deprecated_syntax.py"
    }
    typed = [(named(path), line) for path, text in texts.items() for line in IN_MESSAGES.findall(text)]

    assert [(path, line) for path, line in typed if unknown(line)] == []

"""A checkout with as many recorded cases as asked for: one is recorded from a scripted server, the others are copies.

Copies differ in id, title and link, so all of their requests but the searches differ, and each has a cassette of its
own. They share one codebase and one index; what indexing costs is seen on committed cases.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import yaml

from evals.cassettes import cassette_files
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.request_key import request_key
from evals.triage.dataset.load_cases import load_cases
from tests.builders.checkout import evals
from tests.builders.dataset import a_case_file, a_case_folder, a_dataset, a_page, write
from tests.builders.llm_server import an_llm_server

FIRST = "made-00000"
VARIANTS = ("v1", "v2", "v3")
SUITE = {
    "name": "many",
    "description": "Generated cases, all alike.",
    "cases": {"tags": ["made"]},
    "models": {"default": "m", "fallback": "m"},
    "variants": [{"name": name, "prompt": name} for name in VARIANTS],
    "candidate": "v3",
    "reference": "v2",
}


def a_checkout(folder: Path, cases: int) -> Path:
    """A checkout with a suite `many.yaml` over `cases` recorded cases in `folder`."""
    a_dataset(folder / "datasets", _labels(FIRST), issue=_issue(FIRST))
    a_page(folder / "datasets")
    write(folder / "many.yaml", yaml.safe_dump(SUITE, sort_keys=False))
    with an_llm_server() as llm:
        said = evals(folder, "record", "many.yaml", "--base-url", llm.base_url)
    if said.code != 0:
        raise RuntimeError(f"the first case was not recorded: {said.err or said.out}")
    names = [f"made-{n:05}" for n in range(1, cases)]
    for name in names:
        a_case_folder(folder / "datasets", _labels(name), issue=_issue(name))
    _copy_cassettes(folder, names)
    return folder


def _labels(name: str) -> dict[str, object]:
    return a_case_file(id=name, tags=["made"])


def _issue(name: str) -> str:
    return f"# Totals are too small ({name})\n\nMy order of two books shows only the price of the second one.\n"


def _copy_cassettes(folder: Path, names: list[str]) -> None:
    links = {name: case.url for name, case in load_cases(folder / "datasets").items()}
    original = folder / "cassettes" / f"{FIRST}.yaml"
    for name, text in copies(original, {name: {FIRST: name, links[FIRST]: links[name]} for name in names}).items():
        (folder / "cassettes" / f"{name}.yaml").write_text(text, encoding="utf-8")


def copies(original: Path, changed: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Name -> the text of `original`, read once, with these words in place of those in every request."""
    recorded = cassette_files.load(original).interactions
    return {
        name: cassette_files.rendered(Cassette(original, (_copy(found, words) for found in recorded)))
        for name, words in changed.items()
    }


def _copy(found: Interaction, changed: Mapping[str, str]) -> Interaction:
    """The interaction as another case asks it."""
    request = json.loads(_replaced(json.dumps(found.request), changed))
    key = request_key(found.method, found.uri, json.dumps(request).encode())
    return found.model_copy(update={"request": request, "key": key})


def _replaced(text: str, changed: Mapping[str, str]) -> str:
    for old, new in changed.items():
        text = text.replace(old, new)
    return text

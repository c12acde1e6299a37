"""Ways to an undeserved green by what a verdict rests on: lost values, other models, new versions, falls elsewhere.

Faults in code are planted in a copy of it beside the checkout's data, and run as a process of its own.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.builders.checkout import evals, own_code
from tests.builders.llm_server import Answer, an_llm_server, answering, answering_as
from tests.chaos.ways import RUN, Damage, Way, after, plain, text

BLESS: Final = ("bless", "tiny.yaml")
SHORT: Final = answering(route=("investigator", "writer"))
"""A way without a search and a review, which breaks the rules of both cases."""
EDITED: Final = text("mine.md", "Never while codebase_search", "Not while codebase_search")


def verdict_ways() -> Iterator[Way]:
    """All of them."""
    yield from (Way(f"values: {name}", damage, in_process=False) for name, damage in VALUES.items())
    yield from (Way(f"models: {name}", damage, asked) for name, (damage, asked) in MODELS.items())
    yield from (Way(f"versions: {name}", damage, asked) for name, (damage, asked) in VERSIONS.items())
    yield from (
        Way(f"elsewhere: {name}", damage, RUN, said, in_process=False) for name, (damage, said) in FALLS.items()
    )


def code(path: str, old: str, new: str) -> Damage:
    """The checkout gets code of its own, and a text in it becomes another one."""
    return after(own_code, text(path, old, new))


def recorded(answer: Answer) -> Damage:
    """What is missing is recorded from a server that answers so."""

    def record(checkout: Path) -> None:
        with an_llm_server(answer) as llm:
            said = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)
        if said.code:
            raise RuntimeError(f"evals record ended with {said.code}: {said.err}")

    return record


def version(name: str, *, is_candidate: bool = False, is_reference: bool = False) -> Damage:
    """A copy of the prompt becomes a new version, and a variant of the suite."""

    def add(suite: dict[str, Any]) -> None:
        suite["variants"].append({"name": name, "prompt": f"{name}.md"})
        suite.update({"candidate": name, "reference": "new"} if is_candidate else {})
        suite.update({"reference": name} if is_reference else {})

    def copy(checkout: Path) -> None:
        prompt = (checkout / "mine.md").read_text(encoding="utf-8")
        (checkout / f"{name}.md").write_text(prompt.replace("at each step", f"at each step of {name}"))

    return after(copy, plain("tiny.yaml", add))


def _without_say(unless: str) -> Damage:
    """The supervisor is said to have no choice in its decision points, so that they get no grade."""
    line = "return self.configuration.supervisor not in MODES or has_a_say(self.configuration, state)"
    return code("evals/triage/variant_graph.py", line, f"return {unless}")


VALUES: Final = {
    "no decision is the supervisor's own": _without_say("False"),
    "none is of the candidate alone": _without_say('self.configuration.prompt.version != "mine"'),
    "none is in one case": _without_say('"Two books" not in state.issue_body'),
}
MODELS: Final[dict[str, tuple[Damage, tuple[str, ...]]]] = {
    "a better one answers an edit": (after(EDITED, recorded(answering_as("large"))), RUN),
    "a worse one answers an edit": (after(EDITED, recorded(answering_as("small", SHORT))), RUN),
    "another one answers a new candidate": (
        after(version("six", is_candidate=True), recorded(answering_as("large"))),
        RUN,
    ),
    "another one answers one side of a comparison": (
        after(version("six"), recorded(answering_as("large"))),
        ("compare", "new", "six", "--suite", "tiny.yaml"),
    ),
    "another one answers an edit, which is blessed": (after(EDITED, recorded(answering_as("large"))), BLESS),
}
VERSIONS: Final[dict[str, tuple[Damage, tuple[str, ...]]]] = {
    "a new candidate lost everything": (after(version("six", is_candidate=True), recorded(SHORT)), RUN),
    "a new candidate lost everything, and is blessed": (
        after(version("six", is_candidate=True), recorded(SHORT)),
        BLESS,
    ),
    "a new candidate that nobody recorded": (version("six", is_candidate=True), RUN),
    "a new reference lost everything": (after(version("six", is_reference=True), recorded(SHORT)), RUN),
    "the candidate's edit lost everything, and is blessed": (after(EDITED, recorded(SHORT)), BLESS),
    "the baseline is damaged, and is blessed": (
        lambda checkout: (checkout / "evals/suites/baselines/tiny.json").write_text("{}"),
        BLESS,
    ),
}
FALLS: Final[dict[str, tuple[Damage, str]]] = {
    "every comment is replaced": (
        code("triage/agents/writer.py", "github_comment_markdown=comment,", 'github_comment_markdown="ok",'),
        "comment.cause fell from",
    ),
    "every severity is replaced": (
        code(
            "triage/agents/writer.py",
            "TriageReport.model_validate(draft.model_dump())",
            'TriageReport.model_validate({**draft.model_dump(), "severity": "LOW"})',
        ),
        "severity.",
    ),
    "another prompt by default": (
        code("triage/run_options.py", '"llm": "v3"', '"llm": "v1"'),
        "the default prompt of llm changed from v3 to v1",
    ),
    "the default prompt is edited": (
        code("triage/prompts/supervisor/v3.md", "at each step", "at every step"),
        "the default prompt of llm was edited (v3)",
    ),
}
"""Greens by design, each with what has to be said beside it."""

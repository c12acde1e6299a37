"""Ways to a green that is not deserved: something is lost, edited or left out, and the command is asked if all is well.

Each is a name, what is done to a recorded, blessed and green checkout of two cases and two variants, and what is asked.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.builders.checkout import evals

RUN: Final = ("run", "tiny.yaml")
SHARDS: Final = ("shards/1.json", "shards/2.json")
ONE, OTHER = "cassettes/wrong-sum.yaml", "cassettes/wrong-total.yaml"
CASE, ISSUE = "datasets/triage/cases/wrong-sum/case.yaml", "datasets/triage/cases/wrong-sum/issue.md"
MANIFEST = "cassettes/manifest.jsonl"
BASELINE, KEPT = "evals/suites/baselines/tiny.json", "kept.json"
Damage = Callable[[Path], object]


@dataclass(frozen=True)
class Way:
    """One attempt. `unless_said`: a green that says this is deserved; not `in_process`: the checkout has code of its
    own."""

    name: str
    damage: Damage
    asked: tuple[str, ...] = RUN
    unless_said: str = ""
    in_process: bool = True


def ways() -> Iterator[Way]:
    """All of them."""
    yield from (Way(f"{name}, and {' '.join(words)}", red, (*RUN, *words)) for name, red in RED for words in NEEDLESS)
    yield from (Way(f"baseline: {name}", told(BASELINE, change)) for name, change in BASELINES.items())
    yield from (Way(f"baseline: {name}", bytes_of(BASELINE, content)) for name, content in SPOILT.items())
    yield from (Way(f"cassette: {name}", damage) for name, damage in CASSETTES.items())
    yield from (Way(f"suite: {name}", plain("tiny.yaml", change)) for name, change in SUITES.items())
    yield from (Way(f"labels: {name}", plain(CASE, change)) for name, change in LABELS.items())
    yield from (Way(f"data: {name}", damage) for name, damage in DATA.items())
    yield from (
        Way(f"shards: {name}", damage, ("gate", "--shards", *asked)) for name, (damage, asked) in MERGES.items()
    )
    yield from (Way(f"run.json: {name}", told(KEPT, change), ("gate", KEPT)) for name, change in STORED.items())
    yield from (Way(f"kept verdict: {name}", damage) for name, damage in LISTED.items())
    yield from (Way(f"the last report: {name}", damage, ("gate",)) for name, damage in LEFT_BEHIND.items())


def text(path: str, old: str, new: str, times: int = 1) -> Damage:
    """A text in a file becomes another one; it has to be there."""

    def damage(checkout: Path) -> None:
        before = (checkout / path).read_text(encoding="utf-8")
        if old not in before:
            raise RuntimeError(f"{path} does not hold {old!r}: this way leads nowhere")
        (checkout / path).write_text(before.replace(old, new, times), encoding="utf-8")

    return damage


def told(path: str, change: Callable[[dict[str, Any]], object]) -> Damage:
    """A JSON file is edited, its digest left as it is."""

    def damage(checkout: Path) -> None:
        found = json.loads((checkout / path).read_text(encoding="utf-8"))
        change(found)
        (checkout / path).write_text(json.dumps(found), encoding="utf-8")

    return damage


def plain(path: str, change: Callable[[dict[str, Any]], object]) -> Damage:
    """A YAML file is edited."""

    def damage(checkout: Path) -> None:
        found = yaml.safe_load((checkout / path).read_text(encoding="utf-8"))
        change(found)
        (checkout / path).write_text(yaml.safe_dump(found, sort_keys=False), encoding="utf-8")

    return damage


def bytes_of(path: str, content: bytes) -> Damage:
    """A file holds something else."""
    return lambda checkout: (checkout / path).write_bytes(content)


def gone(path: str) -> Damage:
    """A file is lost."""
    return lambda checkout: (checkout / path).unlink()


def after(*damages: Damage) -> Damage:
    """One after the other."""
    return lambda checkout: [damage(checkout) for damage in damages]


def _sharded(*options: str, of: int = 2) -> Damage:
    """Two shards are made."""
    asked = ("run", "tiny.yaml", *options)
    return lambda checkout: [
        evals(checkout, *asked, "--shard", f"{n}/{of}", "--out", path) for n, path in enumerate(SHARDS, 1)
    ]


def _link(checkout: Path) -> None:
    (checkout / ONE).unlink()
    (checkout / ONE).symlink_to(checkout / OTHER)


def _swap(checkout: Path) -> None:
    one, other = (checkout / ONE).read_bytes(), (checkout / OTHER).read_bytes()
    (checkout / ONE).write_bytes(other)
    (checkout / OTHER).write_bytes(one)


def _constraints(labels: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = labels["route"][0]["constraints"]
    return found


RED: Final = (
    ("a case is in no suite any more", plain(CASE, lambda labels: labels.pop("tags"))),
    ("the baseline is of another suite", told(BASELINE, lambda found: found.update(suite="other"))),
)
NEEDLESS: Final = (
    *((), ("--repeat", "1"), ("--set", "guards=hardened"), ("--set", "max_iterations=10"), ("--dataset", "datasets")),
    *(("--open-holdout", ""), ("--open-holdout", "why not"), ("--jobs", "2"), ("--fresh",)),
)
BASELINES: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "values of the candidate lost": lambda found: found["values"].update(new={}),
    "candidate lost": lambda found: found["values"].pop("new"),
    "one case lost": lambda found: [scores.popitem() for scores in found["values"]["new"].values()],
    "states lost": lambda found: found["states"].update(new={}),
    "topology lost": lambda found: found.update(topology={}),
    "cases lost": lambda found: found.update(cases={}),
    "prompts lost": lambda found: found.update(prompts={}),
    "scorers lost": lambda found: found.update(scorers=""),
    "digest lost": lambda found: found.pop("content_sha256"),
    "everything lower": lambda found: [
        scores.update(dict.fromkeys(scores, 0)) for scores in found["values"]["new"].values()
    ],
}
SPOILT: Final = {"empty": b"", "an empty object": b"{}", "a list": b"[]", "no text": b"\xff\xfe", "half": b'{"suite":'}
CASSETTES: Final[dict[str, Damage]] = {
    "one gone": gone(ONE),
    "both gone": after(gone(ONE), gone(OTHER)),
    "empty": bytes_of(ONE, b""),
    "swapped": _swap,
    "linked to the other": _link,
    "the other in its place": lambda checkout: shutil.copy(checkout / OTHER, checkout / ONE),
    "cut": lambda checkout: (checkout / ONE).write_bytes((checkout / ONE).read_bytes()[:9_000]),
    "another answer": text(ONE, "Quantities are overwritten.", "Nothing is wrong."),
    "another key": text(ONE, 'x_meta: {key: "', 'x_meta: {key: "0'),
    "more tokens": text(ONE, "prompt_tokens: 1,", "prompt_tokens: 7,"),
    "fewer tokens everywhere": text(ONE, "prompt_tokens: 1,", "prompt_tokens: 0,", 99),
    "another model answered": text(ONE, 'model: "m"', 'model: "large"'),
    "another recorder": text(ONE, "recorded_at: ", 'recorded_by: "somebody", recorded_at: '),
    "as JSON of nothing": bytes_of(ONE, b"{}"),
    "no text": bytes_of(ONE, b"\xff\xfe\x00"),
}
SUITES: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "one case by name": lambda suite: suite.update(cases={"ids": ["wrong-sum"]}),
    "no case": lambda suite: suite.update(cases={"tags": ["nobody"]}),
    "candidate renamed": lambda suite: (suite["variants"][1].update(name="newer"), suite.update(candidate="newer")),
    "reference renamed": lambda suite: (suite["variants"][0].update(name="older"), suite.update(reference="older")),
    "a blessed variant left out": lambda suite: suite.update(
        variants=[suite["variants"][1], {"name": "third", "prompt": "v3"}], reference="third"
    ),
    "other guards": lambda suite: [variant.update(guards="none") for variant in suite["variants"]],
    "a shorter way": lambda suite: [variant.update(max_iterations=3) for variant in suite["variants"]],
    "another model": lambda suite: suite.update(models={"default": "n", "fallback": "n"}),
    "more samples": lambda suite: suite.update(samples=2),
    "samples that are true": lambda suite: suite.update(samples=True),
    "a floor of certainty": lambda suite: suite["variants"][1].update(
        confidence_floor={"single": 1, "corroborated": 1}
    ),
}
LABELS: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "held out": lambda labels: labels.update(split="holdout"),
    "another severity": lambda labels: labels.update(severity="LOW"),
    "another category": lambda labels: labels.update(category="not_a_bug"),
    "no gold": lambda labels: labels.update(gold={"files": [], "functions": []}),
    "another gold": lambda labels: labels["gold"].update(files=["README.md"], functions=[]),
    "no decision points": lambda labels: labels.pop("decision_points"),
    "a decision point that accepts all": lambda labels: labels["decision_points"][0].update(
        accept={"investigator": 1.0, "codebase_search": 1.0, "writer": 1.0}
    ),
    "a rule less": lambda labels: _constraints(labels).pop(),
    "a longer way allowed": lambda labels: labels["route"][0].update(max=9),
    "another name": lambda labels: labels.update(id="wrong-price"),
}
DATA: Final[dict[str, Damage]] = {
    "issue edited": text(ISSUE, "Two books", "Three books"),
    "issue gone": gone(ISSUE),
    "case gone": lambda checkout: shutil.rmtree((checkout / CASE).parent),
    "patch gone": gone("datasets/triage/cases/wrong-sum/bug.patch"),
    "code edited": text("datasets/codebases/shop/README.md", "", "Another shop. "),
    "prompt edited": text("mine.md", "Never while codebase_search", "Not while codebase_search"),
    "prompt gone": gone("mine.md"),
    "prompt cut": lambda checkout: (checkout / "mine.md").write_bytes((checkout / "mine.md").read_bytes()[:500]),
}
MERGES: Final[dict[str, tuple[Damage, tuple[str, ...]]]] = {
    "one missing": (_sharded(), SHARDS[:1]),
    "one twice": (_sharded(), (SHARDS[0], SHARDS[0])),
    "two of three": (_sharded(of=3), SHARDS),
    "of one case": (_sharded("--case", "wrong-sum"), SHARDS),
    "a prompt edited since": (
        after(_sharded(), text("mine.md", "Never while codebase_search", "Not while codebase_search")),
        SHARDS,
    ),
    "a cassette gone since": (after(_sharded(), gone(ONE)), SHARDS),
    "a label since": (after(_sharded(), plain(CASE, LABELS["another severity"])), SHARDS),
    "tokens since": (after(_sharded(), CASSETTES["more tokens"]), SHARDS),
    "no traces": (after(_sharded(), told(SHARDS[0], lambda shard: shard.update(traces={}))), SHARDS),
}
LISTED: Final[dict[str, Damage]] = {
    "a cassette of another date": text(ONE, 'recorded_at: "20', 'recorded_at: "19'),
    "a line end more in a cassette": lambda checkout: (checkout / ONE).write_bytes(
        (checkout / ONE).read_bytes() + b"\n"
    ),
    "the manifest gone": gone(MANIFEST),
    "the manifest gone, and more tokens": after(gone(MANIFEST), text(ONE, "prompt_tokens: 1,", "prompt_tokens: 7,")),
    "a line of the manifest gone": lambda checkout: (checkout / MANIFEST).write_bytes(
        (checkout / MANIFEST).read_bytes().partition(b"\n")[2]
    ),
    "the manifest empty": bytes_of(MANIFEST, b""),
}
LEFT_BEHIND: Final[dict[str, Damage]] = {
    "a prompt edited since": text("mine.md", "Never while codebase_search", "Not while codebase_search"),
    "a cassette edited since": text(ONE, "prompt_tokens: 1,", "prompt_tokens: 7,"),
    "an issue edited since": text(ISSUE, "Two books", "Three books"),
    "a case gone since": lambda checkout: shutil.rmtree((checkout / CASE).parent),
    "a run after it that ended with 2": lambda checkout: [
        bytes_of("tiny.yaml", b"name: tiny\n")(checkout),
        evals(checkout, *RUN),
    ],
}
STORED: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "no comparisons": lambda run: run.update(comparisons=[]),
    "no trials": lambda run: run.update(trials=[]),
    "every trial twice": lambda run: run.update(trials=run["trials"] * 2),
    "no cases": lambda run: run.update(cases=[]),
    "another verdict": lambda run: run["verdict"].update(sentence="All is well."),
    "an older schema": lambda run: run.update(schema_version=1, comparisons=[]),
    "digest lost": lambda run: run.pop("content_sha256"),
}

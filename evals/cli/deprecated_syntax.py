"""Command lines in the spelling of version 0.2, translated to that of today.

They are accepted until version 0.4; a line on stderr says what to write. Then `_OLD_COMMANDS` and
`_OLD_OPTIONS` go.
"""

import shlex
from collections.abc import Sequence
from typing import Final, NamedTuple

from evals.cli.options import following, split


class _Now(NamedTuple):
    """How an old command is written: its words, and what its first argument becomes, or is if none is given."""

    words: str
    first: str = "{}"
    default: str | None = None


_OLD_COMMANDS: Final = {
    "merge": _Now("gate --shards"),
    "frame": _Now("report --out trials.csv"),
    "judge check": _Now("judge"),
    "judge plan": _Now("plan --judge", default="judged"),
    "judge record": _Now("record --judge", default="judged"),
    "langsmith push-dataset": _Now("langsmith push cases"),
    "langsmith push-run": _Now("langsmith push"),
    "cassette status": _Now("cassette show", "--suite {}"),
    "cassette diff": _Now("cassette show", "--against {}"),
    "cassette text": _Now("cassette show --plain"),
    "cassette manifest": _Now("cassette tidy"),
    "cassette migrate": _Now("cassette tidy"),
    "cassette prune": _Now("cassette tidy --unused"),
    "dataset list": _Now("dataset show"),
    "dataset stats": _Now("dataset show --counts"),
    "dataset baselines": _Now("dataset show --floors"),
    "dataset gold": _Now("dataset show --gold"),
    "dataset harvest": _Now("dataset show --states v3"),
    "dataset schema": _Now("schema case"),
    "dataset disputes": _Now("dataset lint --disputes"),
}
_SUITES: Final = ("run", "plan", "record")
_ASKING: Final = ("record", "drift")
_OLD_OPTIONS: Final[tuple[tuple[tuple[str, ...], str, str], ...]] = (
    (_SUITES, "--samples", "--repeat {}"),
    (_SUITES, "--guards", "--set guards={}"),
    (_SUITES, "--max-iterations", "--set max_iterations={}"),
    (("run",), "--trial-timeout", "--set trial-timeout={}"),
    (_ASKING, "--api-key-env", "--set api_key_env={}"),
    (_ASKING, "--concurrency", "--set concurrency={}"),
    (_ASKING, "--timeout", "--set timeout={}"),
    (_ASKING, "--retries", "--set retries={}"),
    (_ASKING, "--shards", "--set shards={}"),
    (_ASKING, "--model", "--set model={}"),
    (_ASKING, "--rounds", "--export {}"),
    (("record",), "--keep-invalid", "--set keep_invalid=yes"),
    (("drift",), "--seed", "--set seed={}"),
    (("drift",), "--precision", "--set precision={}"),
    (("gate",), "--alpha", "--set alpha={}"),
    (("gate",), "--margin", "--set margin={}"),
    (("gate",), "--coverage-floor", "--set coverage_floor={}"),
    (("gate",), "--require", "--set require={}"),
    (("langsmith push",), "--messages", ""),
    (("dataset show",), "--variant", "--states {}"),
    (("dataset new",), "--jobs", "--job-store {}"),
)
"""Commands as they are called now, an old option of theirs, and what it is now; `{}` is its value."""
_FLAGS: Final = ("--json", "--why", "--patch", "--gold", "--counts", "--floors", "--plain", "--unused", "--judge")
"""Options without a value among those that may stand before the first argument of a renamed command."""


def renewed(arguments: Sequence[str]) -> list[str]:
    """The same command line as it is written today; what needs no change is returned unchanged."""
    front, rest = split(arguments)
    for size in (2, 1):
        now = _OLD_COMMANDS.get(" ".join(rest[:size]))
        if now is not None:
            words = now.words.split()
            named = now.words.partition(" --")[0]
            return [*front, *words, *_first(_options(named, rest[size:]), now)]
    for size in (2, 1):
        named = " ".join(rest[:size])
        if any(named in commands for commands, _, _ in _OLD_OPTIONS):
            return [*front, *rest[:size], *_options(named, rest[size:])]
    return [*front, *rest]


def _options(command: str, words: Sequence[str]) -> list[str]:
    """The words behind a command with its old options renamed."""
    known = {old: now for commands, old, now in _OLD_OPTIONS if command in commands}
    found: list[str] = []
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        now = known.get(name)
        if now is None:
            found.append(word)
        elif "{}" not in now:
            found += now.split()
        else:
            given = [value] if equals else following(left)
            found += [part.replace("{}", given[0]) for part in now.split()] if given else [word]
    return found


def _first(words: list[str], now: _Now) -> list[str]:
    """The words with the first argument as the new command takes it."""
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        is_value = before.startswith("--") and "=" not in before and before not in (*_FLAGS, "--")
        if before == "--" or not (word.startswith("-") or is_value):
            return [*(part.replace("{}", word) for part in now.first.split()), *words[:place], *words[place + 1 :]]
    return [*words, *([now.default] if now.default else [])]


def is_old(arguments: Sequence[str]) -> bool:
    """Whether a word of the command line is spelled as in version 0.2."""
    front, rest = split(arguments)
    return renewed(arguments) != [*front, *rest]


def advice(arguments: Sequence[str]) -> str:
    """One line: how a command line in an old spelling is written today."""
    return f"write `evals {shlex.join(renewed(arguments))}`; the old spelling is accepted until version 0.4"

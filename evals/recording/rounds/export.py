"""A round on disk: the requests that can be asked now, as JSONL in the format of OpenAI's Batch API.

    DIR/round-001/shard-1.jsonl ... shard-n.jsonl    the requests; one shard holds whole cases
    DIR/round-001/answers-1.jsonl ...                what a command answered to them (`--answer-with`)

A round is complete or not there at all; a round that nobody has answered is not written twice.
"""

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.cassette.allowed_secrets import NOTHING, AllowedSecrets
from evals.cassette.key import parse_json
from evals.cassette.redact import redact_request, scan
from evals.errors import SecretFoundError
from evals.recording.rounds.wire import Pending


@dataclass(frozen=True)
class Round:
    """One round; `shards` are its request files in order."""

    number: int
    folder: Path

    @property
    def shards(self) -> list[Path]:
        """The request files."""
        return sorted(self.folder.glob("shard-*.jsonl"), key=_number)

    @property
    def answers(self) -> list[Path]:
        """The answers that lie beside the requests."""
        return sorted(self.folder.glob("answers-*.jsonl"), key=_number)

    def ids(self) -> list[str]:
        """The requests asked in this round."""
        lines = [line for path in self.shards for line in path.read_text(encoding="utf-8").splitlines()]
        return [parse_json(line)["custom_id"] for line in lines]


def rounds_in(folder: Path) -> list[Round]:
    """The rounds written so far, in order."""
    return sorted((Round(_number(path), path) for path in folder.glob("round-*")), key=lambda found: found.number)


def write_round(folder: Path, pending: Sequence[Pending], shards: int, allowed: AllowedSecrets = NOTHING) -> Round:
    """The next round below `folder`; the last one if it asks the same and is unanswered.

    Raises:
        SecretFoundError: a request holds a secret that is not `allowed`; nothing is written.
    """
    texts = {f"shard-{index}.jsonl": text for index, text in enumerate(_sharded(pending, shards, allowed), 1)}
    before = rounds_in(folder)
    if before and not before[-1].answers and _texts(before[-1]) == texts:
        return before[-1]
    number = before[-1].number + 1 if before else 1
    unfinished = folder / f".round-{number:03}.tmp"
    shutil.rmtree(unfinished, ignore_errors=True)  # what a killed export left
    unfinished.mkdir(parents=True)
    for name, text in texts.items():
        (unfinished / name).write_text(text, encoding="utf-8")
    return Round(number, unfinished.rename(folder / f"round-{number:03}"))


def _sharded(pending: Sequence[Pending], shards: int, allowed: AllowedSecrets) -> list[str]:
    """The text of each shard. Cases stay whole, for whoever answers a case has its context at hand; each goes to the
    shard that has least."""
    by_case: dict[str, list[str]] = {}
    for item in sorted(pending, key=lambda item: (item.case_id, item.request.agent, item.custom_id)):
        by_case.setdefault(item.case_id, []).append(_line(item, allowed))
    filled: list[list[str]] = [[] for _ in range(shards)]
    for lines in by_case.values():
        min(filled, key=len).extend(lines)
    return ["".join(lines) for lines in filled if lines]


def _line(item: Pending, allowed: AllowedSecrets) -> str:
    """One request. ASCII throughout: no reader takes a character inside it for the end of the line."""
    request = item.request
    body: Mapping[str, object] = redact_request(parse_json(request.body))
    if found := scan(body if item.tree is None else item.tree.folded(body), "body", allowed):
        raise SecretFoundError(
            Path(f"case {item.case_id}"),
            f"{found[0].rule} at {found[0].json_path} of a request by {request.agent}: remove it at its source; "
            "nothing was exported",
        )
    line = {"custom_id": item.custom_id, "method": request.method, "url": request.path, "body": body}
    return json.dumps(line) + "\n"


def _texts(found: Round) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in found.shards}


def _number(path: Path) -> int:
    """The number a name ends in."""
    digits = path.stem.rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def by_file(found: Round) -> Counter[str]:
    """How many requests each shard holds."""
    return Counter({path.name: path.read_bytes().count(b"\n") for path in found.shards})

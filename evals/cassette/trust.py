"""What a file has to be before a replay believes it: every key is computed again, every answer is its digest's."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from evals.cassette import vcr_file
from evals.cassette.bounds import MAX_ANSWERS, excess, too_many
from evals.cassette.entry import Entry
from evals.cassette.interaction import CONTENT_TYPE, ORIGIN, Interaction, order
from evals.cassette.key import parse_json, request_key
from evals.cassette.yaml_text import line_of
from evals.errors import CassetteError


def trusted(path: Path, text: str, entries: Sequence[Entry]) -> list[Interaction]:
    """The interactions of a file's entries, each what it says it is.

    Raises CassetteError with the line of the first that is not.
    """
    _refuse_too_much(path, text, entries)
    interactions = [_checked(path, text, index, entry) for index, entry in enumerate(entries)]
    _refuse_duplicates(path, text, interactions)
    _refuse_disorder(path, text, interactions)
    return interactions


def _checked(path: Path, text: str, index: int, entry: Entry) -> Interaction:
    """The interaction of an entry that is what it says it is."""

    def wrong(message: str, *location: str) -> CassetteError:
        return CassetteError(path, message, line_of(text, ("interactions", index, *location)))

    if not entry.request.uri.startswith(ORIGIN + "/"):
        raise wrong(f"the request's uri does not start with {ORIGIN}/; restore the file", "request", "uri")
    if not entry.request.method.isupper():  # the key is that of the method in capitals
        raise wrong("the request's method is not in capitals; restore the file", "request", "method")
    uri = entry.request.uri.removeprefix(ORIGIN)
    try:
        request, response = parse_json(entry.request.body), parse_json(entry.response.body.string)
    except ValueError:
        raise wrong("a body is not JSON: edited by hand or cut; restore the file", "request", "body") from None
    if not isinstance(request, dict) or not isinstance(response, dict):
        raise wrong("a body is no JSON object; restore the file", "request", "body")
    if request_key(entry.request.method, uri, entry.request.body.encode()) != entry.x_meta.key:
        raise wrong("the key is not that of the request: edited by hand; record it again", "x_meta", "key")
    if vcr_file.digest(entry.response.body.string) != entry.x_meta.response_sha256:
        raise wrong("the answer is not the one recorded: edited by hand; restore it", "response", "body")
    if entry.response.headers["content-type"] != (CONTENT_TYPE,):
        raise wrong(f"the answer's content type is not {CONTENT_TYPE}; restore the file", "response", "headers")
    if found := excess(response):
        raise wrong(f"the answer has {found}; record it again", "response", "body")
    return Interaction(
        **entry.x_meta.model_dump(exclude={"response_sha256"}),
        method=entry.request.method,
        uri=uri,
        request=request,
        status=entry.response.status.code,
        response=response,
    )


def _refuse_too_much(path: Path, text: str, entries: Sequence[Entry]) -> None:
    index = too_many(len(entry.response.body.string) for entry in entries)
    if index is not None:
        message = f"the answers of one cassette are over {MAX_ANSWERS:,} characters; restore the file"
        raise CassetteError(path, message, line_of(text, ("interactions", index)))


def _refuse_duplicates(path: Path, text: str, interactions: Sequence[Interaction]) -> None:
    seen: set[tuple[str, int]] = set()
    for index, found in enumerate(interactions):
        if (found.key, found.sample) in seen:
            line = line_of(text, ("interactions", index))
            message = f"sample {found.sample} of request {found.key[:12]} is there twice: merged by hand; keep one"
            raise CassetteError(path, message, line)
        seen.add((found.key, found.sample))


def _refuse_disorder(path: Path, text: str, interactions: Sequence[Interaction]) -> None:
    """The order is part of the bytes: an agent or a sample that was changed by hand mostly breaks it."""
    for index, (before, after) in enumerate(pairwise(interactions), 1):
        if order(after) < order(before):
            line = line_of(text, ("interactions", index))
            raise CassetteError(path, "not sorted by agent, key and sample: edited by hand; restore the file", line)

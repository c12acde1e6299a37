"""From the folders of a dataset to cases ready to run."""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from evals.dataset.codebase import code_of, load_codebase, tree_named
from evals.dataset.layout import Layout
from evals.dataset.located import decoded, line_of, read_model, read_text
from evals.dataset.policy import Policy, join, load_policy
from evals.errors import DatasetError
from evals.kept import digest_of
from evals.models.case import Case, CaseFile
from evals.models.route import RouteSpec

HOST: Final = "https://github.invalid"  # .invalid never resolves (RFC 2606): the link looks real and reaches nobody


def load_cases(root: Path) -> dict[str, Case]:
    """Every case of the dataset in folder `root`, by id in alphabetical order.

    Raises DatasetError (`path:line: …`) at the first file that is wrong, and when there are no cases at all.
    """
    ids = case_ids(root)
    if not ids:
        raise DatasetError(f"{Layout(root).cases}: holds no cases; an empty dataset proves nothing")
    policy = load_policy(Layout(root).policy)
    digest = cache(code_of)  # some codebases, many cases
    return {name: load_case(root, name, policy, digest) for name in ids}


def case_ids(root: Path) -> list[str]:
    """The names of the case folders, sorted; folders whose name starts with a dot are not cases."""
    cases = Layout(root).cases
    if not cases.is_dir():
        return []
    return sorted(entry.name for entry in cases.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def load_case(root: Path, case_id: str, policy: Policy, tree_of: Callable[[Path], str] = code_of) -> Case:
    """One case with its issue, its joined route specification and the digest of all it rests on; `tree_of` gives that
    of a codebase."""
    layout = Layout(root)
    labels = read_labels(layout.labels(case_id))
    issue = _bytes(layout.issue(case_id))
    title, body = _title_and_body(layout.issue(case_id), issue)
    clean = _codebase(layout, labels)
    code = load_codebase(clean) if clean else None
    repository = code.repository if code else str(labels.repository)
    digest = tree_of(clean) if clean else ""
    patch = layout.patch(case_id).read_bytes() if layout.patch(case_id).exists() else b""
    return Case(
        labels=labels,
        title=title,
        body=body,
        url=_url(labels, repository),
        repository=repository,
        route_spec=_route_spec(layout, labels, policy),
        digest=_digest(labels, issue, patch, digest, policy),
        tree=code.tree if code else None,
        code=tree_named(digest, patch) if code and code.tree is None else None,
    )


def read_labels(path: Path) -> CaseFile:
    """`case.yaml`, whose id must be its folder's name. Raises DatasetError."""
    labels = read_model(path, CaseFile)
    if labels.id != path.parent.name:
        line = line_of(path, "id")
        raise DatasetError(f"{path}:{line}: id is {labels.id!r}, the folder {path.parent.name!r}; make them one")
    return labels


def read_issue(path: Path) -> tuple[str, str]:
    """Title and body: the first line (a leading `# ` is dropped) and all the rest without blank edges."""
    return _title_and_body(path, _bytes(path))


def _bytes(path: Path) -> bytes:
    """What the file holds. Raises DatasetError."""
    try:
        return path.read_bytes()
    except OSError:
        read_text(path)  # says what is wrong with it
        raise


def _title_and_body(path: Path, content: bytes) -> tuple[str, str]:
    """The issue in these bytes of `path`, which are digested as well: a file may change between two readings."""
    text = decoded(path, content).replace("\r\n", "\n").replace("\r", "\n")
    title, _, body = text.lstrip("\n").partition("\n")
    title = title.removeprefix("# ").strip()
    if not title:
        raise DatasetError(f"{path}:1: is empty; the first line is the issue's title")
    return title, body.strip()


def _codebase(layout: Layout, labels: CaseFile) -> Path | None:
    """The clean package; None for an imported case, whose code is not here."""
    if labels.codebase is None:
        return None
    clean = layout.codebase(labels.codebase)
    if not clean.is_dir():
        path = layout.labels(labels.id)
        raise DatasetError(f"{path}:{line_of(path, 'codebase')}: there is no codebase {labels.codebase!r}")
    return clean


def _route_spec(layout: Layout, labels: CaseFile, policy: Policy) -> RouteSpec:
    path = layout.labels(labels.id)
    try:
        return join(policy, labels)
    except DatasetError as error:
        raise DatasetError(f"{path}:{line_of(path, 'route')}: {error}") from error


def _url(labels: CaseFile, repository: str) -> str:
    """The issue's address: its own, where requests have named it, else one that nobody has."""
    if labels.origin is not None and labels.origin.url is not None:
        return labels.origin.url
    return f"{HOST}/{repository}/issues/{_issue_number(labels.id)}"


def _issue_number(case_id: str) -> int:
    """A number that depends on the case alone, so that a new case renumbers nobody."""
    return 1000 + int(hashlib.sha256(case_id.encode()).hexdigest(), 16) % 9000


def _digest(labels: CaseFile, issue: bytes, patch: bytes, tree: str, policy: Policy) -> str:
    parts = (
        # defaults left out: a new kind of label changes no old case
        labels.model_dump_json(by_alias=True, exclude_defaults=True).encode(),
        issue,
        patch,
        tree.encode(),
        policy.model_dump_json(by_alias=True).encode(),
    )
    return digest_of(*parts)

"""Load the cases of a dataset and its route policy."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from evals.content_cache import digest_of
from evals.errors import DatasetError, nearest_name
from evals.models.base import Closed
from evals.models.case import (
    Case,
    Constraint,
    QuestionPolicy,
    RouteAlternative,
    RouteLabel,
    RouteNode,
    RouteSpec,
    Steps,
)
from evals.safe_yaml import decoded, line_of, read_model, read_text
from evals.triage.dataset.case_code import code_of, load_codebase, tree_named
from evals.triage.dataset.dataset_layout import CaseFile, Layout
from evals.triage.nodes import CHOICES, LAST, NODE_CAPS, NODES


class Policy(Closed):
    """`policy.yaml`: constraints that every alternative of every case starts from, save overrides by id."""

    version: Annotated[str, Field(pattern=r"^[a-z-]+/\d+$")]
    hard_max: Annotated[int, Field(ge=1)]
    node_caps: dict[RouteNode, int]
    constraints: tuple[Constraint, ...]


def load_policy(path: Path) -> Policy:
    """Reads and checks the policy. Raises DatasetError (`path:line: …`)."""
    policy = read_model(path, Policy)
    named = [node for rule in policy.constraints for node in (*rule.a, *rule.b)]
    for node in (*policy.node_caps, *named):
        if node not in NODES:
            raise DatasetError(
                f"{path}:{line_of(path, 'node_caps')}: there is no node {node!r}; name one of {', '.join(NODES)}"
            )
    return policy


def join(policy: Policy, labels: CaseFile) -> RouteSpec:
    """The case's route specification: policy constraints first, then the case's own.

    Raises DatasetError (without a path: the caller knows it) for an unknown override or an id used twice.
    """
    question = labels.question.policy
    return RouteSpec(
        name=labels.id,
        last=LAST,
        node_caps={**NODE_CAPS, **policy.node_caps},
        alternatives=tuple(_alternative(policy, label, question) for label in labels.route),
    )


def _alternative(policy: Policy, label: RouteLabel, question: QuestionPolicy) -> RouteAlternative:
    return RouteAlternative(
        constraints=_constraints(policy, label),
        steps=Steps(target=label.target, max=label.max, hard_max=policy.hard_max),
        node_max=label.node_max,
        exemplars=label.exemplars,
        question=question,
    )


def _constraints(policy: Policy, label: RouteLabel) -> tuple[Constraint, ...]:
    known = {constraint.id for constraint in policy.constraints}
    for override in label.overrides:
        if override not in known:
            raise DatasetError(f"overrides {override!r}, which {policy.version} does not have; it has {sorted(known)}")
    kept = tuple(constraint for constraint in policy.constraints if constraint.id not in label.overrides)
    joined = kept + label.constraints
    ids = [constraint.id for constraint in joined]
    double = sorted({name for name in ids if ids.count(name) > 1})
    if double:
        raise DatasetError(f"the constraint id {double[0]!r} is used twice; ids must differ, also from the policy's")
    return joined


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


_code_of: Final = cache(code_of)
"""Some codebases, many cases; for one command."""


def load_one(root: Path, case_id: str) -> Case:
    """One case of a dataset with its policy. Raises DatasetError."""
    return load_case(root, case_id, load_policy(Layout(root).policy), _code_of)


def read_labels(path: Path) -> CaseFile:
    """`case.yaml`, whose id must be its folder's name. Raises DatasetError."""
    labels = read_model(path, CaseFile)
    for where, node, known in _nodes_of(labels):
        if node not in known:
            hint = nearest_name(node, known) or f"; name one of {', '.join(known)}"
            raise DatasetError(f"{path}:{line_of(path, where)}: there is no node {node!r}{hint}")
    if labels.id != path.parent.name:
        line = line_of(path, "id")
        raise DatasetError(f"{path}:{line}: id is {labels.id!r}, the folder {path.parent.name!r}; make them one")
    return labels


def _nodes_of(labels: CaseFile) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(member of the file, node named there, nodes that may stand there)."""
    for way in labels.route:
        rules = [node for rule in way.constraints for node in (*rule.a, *rule.b)]
        for node in (*rules, *way.node_max, *(node for exemplar in way.exemplars for node in exemplar)):
            yield "route", node, NODES
    for point in labels.decision_points:
        for node in point.accept:
            yield "decision_points", node, CHOICES


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
    number = 1000 + int(hashlib.sha256(labels.id.encode()).hexdigest(), 16) % 9000  # a new case renumbers nobody
    return f"{HOST}/{repository}/issues/{number}"


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

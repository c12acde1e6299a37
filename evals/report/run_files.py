"""Files of a run: the report is written, run.json and shards are written and read back in this or an older schema."""

import hashlib
import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from evals.application_pack import HERE, load_pack
from evals.atomic_files import write_files
from evals.errors import ConfigurationError
from evals.models.base import Closed, Sealed
from evals.models.judge import JudgedRun
from evals.models.run import FOREIGN_SCORERS, RUN_SCHEMA, Run
from evals.models.run_request import SHARD_SCHEMA, Shard
from evals.paths import path_of_user
from evals.project import ANY_GRAPH
from evals.report.html_page import render
from evals.report.junit_xml import junit
from evals.report.recorded_calls import NONE, recorded_calls
from evals.report.summary_markdown import summary
from evals.secret_filter import held_back
from evals.workspace import Workspace

Stored = TypeVar("Stored", bound=Sealed)


def read_run(path: Path | str) -> Run:
    """The run stored at `path`.

    Raises:
        ConfigurationError: no such file, not a run, or one of a newer schema.
    """
    path = path_of_user(path, "path")
    absent, broken = "`evals run SUITE` writes reports/latest", "not a run.json of this version"
    model: type[Run] = JudgedRun if _is_judged(path) else Run
    return read_stored(path, model, RUN_SCHEMA, mark="trials", absent=absent, broken=broken, sealed_since=4)


def _is_judged(path: Path) -> bool:
    """Whether the file holds what a judge said: its member comes last, and an issue's text cannot spell its quotes."""
    try:
        content = path.read_bytes()
    except OSError:
        return False  # which is said by whoever reads it
    return b'\n "judge": {' in content or b',"judge":{' in content


def read_stored(
    path: Path, model: type[Stored], newest: int, *, mark: str, absent: str, broken: str, sealed_since: int
) -> Stored:
    """The `model` stored at `path`. `newest` is the schema it is read up to, `mark` a field that tells it from other
    kinds of files; `absent` and `broken` say what to do where it is not there, or not whole. Files of schema
    `sealed_since` and newer hold their own digest.

    Raises:
        ConfigurationError: no such file, of another kind, of a newer schema, or edited since it was written.
    """
    try:
        content = path.read_bytes()
        found = _read(model, content, newest)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror}); {absent}") from error
    except ValidationError as error:
        version = _schema_version(content, mark)
        if version > newest:
            raise ConfigurationError(
                f"{path}: written by a newer evals (schema {version}, this one reads up to {newest}); upgrade"
            ) from error
        raise ConfigurationError(f"{path}: {broken} ({error.error_count()} faults)") from error
    is_sealed = found.content_sha256 or _schema_version(content, mark) >= sealed_since
    if is_sealed and not (found.intact or _intact_before(content, found.content_sha256)):
        raise ConfigurationError(f"{path}: edited or damaged since it was written; {absent}")
    return found


def _read(model: type[Stored], content: bytes, newest: int) -> Stored:
    """The model of a file in this or an older schema. Raises ValidationError."""
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        told = _told(content)
        if not issubclass(model, Run) or _schema_version(content, "trials") >= newest:
            raise
        try:
            return model.model_validate_json(to_json(renewed_run({**told, "schema_version": newest})))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise error from None


def _intact_before(content: bytes, digest: str) -> bool:
    """Whether a file that has other members than the model is as it was written."""
    told = {name: value for name, value in _told(content).items() if name != "content_sha256"}
    return hashlib.sha256(to_json(told)).hexdigest() == digest


_OUTPUT: Final = ("comment", "ticket")
_FACTS: Final = ("repository_files", "fix_lines")
_LABELS: Final = ("category", "severity", "root_cause", "gold_files", "published")


def renewed_run(told: dict[str, Any]) -> dict[str, Any]:
    """A run from before schema 7 as it would be written today."""
    for case in told.get("cases", ()):
        if "archetype" in case:
            case["slice"] = case.pop("archetype")
            labels = {name: value for name in _LABELS if (value := case.pop(name, None)) not in (None, "")}
            published = labels.pop("published", None)
            gold = {"gold": labels.pop("gold_files")} if "gold_files" in labels else {}
            source = {"published": published["source"], "whole_names": published["whole_names"]} if published else {}
            case["labels"] = {**labels, **gold, **source, **case.get("labels", {})}
    for twins in told.get("twins", ()):
        if "archetypes" in twins:
            twins["slices"] = twins.pop("archetypes")
    for trial in told.get("trials", ()):
        trace = trial["trace"]
        parts = {name: value for name in _OUTPUT if (value := trace.pop(name, None))}
        trace["output"] = {**(trace.pop("report", None) or {}), **parts, **trace.get("output", {})}
        trace["facts"] = {name: value for name in _FACTS if (value := trace.pop(name, None))}
        for decision in trace.get("decisions", ()):
            decision["overrides"] = [{"rule": each.pop("guard"), **each} for each in decision.pop("vetoes", ())]
    return told


def _told(content: bytes) -> dict[str, Any]:
    """The members of a file; none where it is no JSON object."""
    try:
        return TypeAdapter(dict[str, Any]).validate_json(content)
    except ValidationError:
        return {}


def _schema_version(content: bytes, mark: str) -> int:
    """The schema a file says it has; 0 where it says none, or where it has no field `mark`: it is of another kind."""
    told = _told(content)
    version = told.get("schema_version", 0) if mark in told else 0
    return version if isinstance(version, int) else 0


def write_shard(shard: Shard, path: Path) -> None:
    """Write the shard; the file appears whole or not at all, and a text no cassette may
    hold is withheld. Raises ConfigurationError if it cannot be written."""
    write_files(path.parent, {path.name: held_back(shard, path).sealed().model_dump_json(by_alias=True) + "\n"})


def read_shard(path: Path) -> Shard:
    """The shard stored at `path`.

    Raises:
        ConfigurationError: no such file, not a shard, or one of a newer schema.
    """
    absent = "`evals run SUITE --shard 1/2` writes one"
    broken = "not a whole shard; make it anew with `evals run SUITE --shard`"
    return read_stored(path, Shard, SHARD_SCHEMA, mark="traces", absent=absent, broken=broken, sealed_since=2)


def write_report(run: Run, folder: Path | str, root: Path | str = HERE) -> None:
    """Write all files of a run, each whole or not at all; a text no cassette may hold is withheld in all of them. The
    models' raw answers come from the cassettes of the checkout at `root`, where they are still those of the run.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    if not isinstance(run, Run):
        raise ConfigurationError(f"write_report: {run!r:.60} is no run; `read_run` reads a run.json")
    place, checkout = path_of_user(folder, "folder"), path_of_user(root, "root")
    try:
        workspace = Workspace.at(checkout)
    except ConfigurationError:  # a run.json from elsewhere, read where no checkout is
        workspace = None
    write_fit(held_back(run, place), place, workspace)


def write_fit(run: Run, folder: Path, workspace: Workspace | None) -> None:
    """Write all files of a run that holds nothing to be withheld; `run.json`, the largest, is never one text."""
    write_files(folder, {**_pages(run, workspace), "run.json": chain(run.sealed().pieces(indent=1), "\n")})


def files_of(run: Run, workspace: Workspace | None = None) -> dict[str, str]:
    """The texts of a run's files, by name. They follow from the run and its cassettes."""
    return {**_pages(run, workspace), "run.json": "".join(run.sealed().pieces(indent=1)) + "\n"}


def _pages(run: Run, workspace: Workspace | None) -> dict[str, str]:
    pack, recorded = (workspace.pack, recorded_calls(run, workspace)) if workspace else (None, NONE)
    if run.digests.get("scorers") == FOREIGN_SCORERS:
        pack = load_pack(ANY_GRAPH)
    return {"index.html": render(run, pack, recorded), "summary.md": summary(run, pack), "junit.xml": junit(run)}


Told = TypeVar("Told", bound=Closed)


def write_sheet(told: Told, page: Callable[[Told], str], folder: Path, name: str, tape: Path) -> Told:
    """Write `index.html` and `<name>.json`; returns what they tell: a text that no cassette in the folder `tape` may
    hold is withheld.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    fit = held_back(told, tape)
    stored = json.dumps(fit.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
    write_files(folder, {"index.html": page(fit), f"{name}.json": stored})
    return fit

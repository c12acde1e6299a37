"""Options of `triage run` and what a resumed job began with."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Self

from triage.codebase.source_files import Source, sources_of
from triage.errors import ConfigurationError, InputError
from triage.graph_configuration import Configuration, RulesSettings, Thresholds
from triage.plans.plan_files import MODES, starts_from_a_plan
from triage.prompts.load import load_supervisor_prompt
from triage.settings import without_login
from triage.state import ConfidenceFloor, PlanLimits

DEFAULT_PROMPTS: Final = {"llm": "v6", "registry": "v4", **dict.fromkeys(MODES, "plan-v1")}
DEFAULT_PLAN: Final = "linear"
_PREFIX: Final = "triage_"
"""Before each name in the metadata, which LangGraph shares with its own entries."""


@dataclass(frozen=True)
class RunOptions:
    """As the command line has them; None: not said. Files and folders are absolute, so that a job goes on anywhere."""

    supervisor: str | None = None
    prompt: str | None = None
    plan: str | None = None
    guards: str | None = None
    model: str | None = None
    repo: str | None = None
    out: str | None = None
    base_url: str | None = None
    """Where the job was last asked for; it comes from the environment, and is kept to be compared."""
    record: str | None = None
    """"yes" where the traffic is kept; a job that was begun so goes on so."""
    thresholds: str | None = None
    revision: str | None = None
    """What the checkout stood at when the job was begun (`triage.codebase.checkout_index`)."""
    max_cost: str | None = None
    """USD the job may cost in all (`triage.job_budget`)."""
    max_tokens: str | None = None
    further_repos: str | None = None
    """JSON list of the checkouts after the first."""
    paths: str | None = None
    """JSON list of the folders that are searched, as given (`triage.codebase.source_files`); None: all."""
    further_revisions: str | None = None
    """JSON list: what the further checkouts stood at."""

    def __post_init__(self) -> None:
        """A relative name would mean another file in another folder; a login in an address is nobody's business."""
        if self.base_url is not None:
            object.__setattr__(self, "base_url", without_login(self.base_url))
        for name, suffixes in (("prompt", (".md",)), ("plan", (".yaml", ".yml"))):
            given = getattr(self, name)
            if given is not None and Path(given).suffix in suffixes:
                object.__setattr__(self, name, str(Path(given).absolute()))
        for name in ("repo", "out", "thresholds"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, str(Path(given).resolve()))
        if self.further_repos is not None:
            further = [str(Path(given).resolve()) for given in json.loads(self.further_repos)]
            object.__setattr__(self, "further_repos", json.dumps(further))

    @property
    def checkouts(self) -> tuple[Path, ...]:
        """All checkouts, the first one first."""
        further = json.loads(self.further_repos or "[]")
        return tuple(map(Path, [str(self.repo), *further]))

    @property
    def revisions(self) -> tuple[str, ...]:
        """What each of the checkouts stood at when the job was begun."""
        return (self.revision or "", *json.loads(self.further_revisions or "[]"))

    def sources(self) -> tuple[Source, ...]:
        """What is searched. Raises InputError."""
        return sources_of(self.checkouts, json.loads(self.paths or "[]"))

    def revised(self, revision_of: Callable[[Path], str]) -> Self:
        """These options with the revisions at which the checkouts stand now."""
        first, *further = map(revision_of, self.checkouts)
        return replace(self, revision=first, further_revisions=json.dumps(further) if further else None)

    def as_revised(self, options: Self) -> Self:
        """`options` with the revisions of these ones."""
        return replace(options, revision=self.revision, further_revisions=self.further_revisions)

    def completed(self) -> Self:
        """What a new job runs with: what was not said is what suits its supervisor."""
        supervisor = self.supervisor or "llm"
        planned = supervisor in MODES and starts_from_a_plan(MODES[supervisor])
        return replace(
            self,
            supervisor=supervisor,
            prompt=self.prompt or DEFAULT_PROMPTS.get(supervisor),
            plan=self.plan or (DEFAULT_PLAN if planned else None),
            guards=self.guards or "hardened",
        )

    def continued(self, begun: Self) -> Self:
        """What a resumed job runs with: what it was begun with, but for the prompt, guard set, model or folder for
        results that is named now.

        Raises:
            InputError: another supervisor or plan is named, which could not read what the job has left, or another
                repository, which is not what its findings are about.
        """
        for option in ("supervisor", "plan"):
            said, was = getattr(self, option), getattr(begun, option)
            if said not in (None, was):
                told = f"with --{option} {was}" if was else f"without --{option}"
                raise InputError(f"this job was begun {told}: leave --{option} out to go on, or start a new job")
        if self.paths not in (None, begun.paths):
            told = f"with --path {', '.join(json.loads(begun.paths))}" if begun.paths else "without --path"
            raise InputError(f"this job was begun {told}: leave --path out to go on, or start a new job")
        may_change = ("prompt", "guards", "model", "out", "base_url", "record", "thresholds", "max_cost", "max_tokens")
        said_now = {name: getattr(self, name) for name in may_change if getattr(self, name) is not None}
        return replace(begun, **said_now, **self._repositories(begun))

    def _repositories(self, begun: Self) -> dict[str, str | None]:
        """The job's checkouts. One that has been moved may be named anew, as long as its folder is called the same."""
        if self.repo is None:
            return {"repo": begun.repo, "further_repos": begun.further_repos}
        now = {"repo": self.repo, "further_repos": self.further_repos}
        were = begun.checkouts
        if begun.repo is None or (len(were) == len(self.checkouts) and all(map(_is_same, were, self.checkouts))):
            return now
        told = " ".join(f"--repo {was}" for was in were)
        raise InputError(f"this job was begun with {told}: leave --repo out to go on, or start a new job")

    def told(self) -> str:
        """One line for whoever runs the job."""
        said = [("prompt", self.prompt), ("plan", self.plan), ("guards", self.guards), ("model", self.model)]
        parts = [str(self.supervisor), *(f"{name} {value}" for name, value in said if value)]
        parts += ["its traffic is kept"] if self.record else []
        parts += [f"at most {self.max_cost} USD"] if self.max_cost else []
        parts += [f"at most {self.max_tokens} tokens"] if self.max_tokens else []
        return ", ".join(
            [
                *parts,
                *(f"{name} {getattr(self, name)}" for name in ("thresholds", "repo") if getattr(self, name)),
                *(f"repo {repo}" for repo in json.loads(self.further_repos or "[]")),
                *(f"path {path}" for path in json.loads(self.paths or "[]")),
                *([f"out {self.out}"] if self.out else []),
            ]
        )

    def configuration(self) -> Configuration:
        """The configuration these completed options name.

        Raises:
            ConfigurationError: a prompt that is not there or does not fit, a plan where none is followed, or thresholds
                that cannot be read or are another supervisor's.
        """
        set_to = self._thresholds()
        if set_to.rules is not None and self.supervisor != "rules":
            raise ConfigurationError(f"{self.thresholds}: `rules` are thresholds of supervisor 'rules': take them out")
        return Configuration(
            prompt=None if self.prompt is None else load_supervisor_prompt(self.prompt),
            guards=self.guards or "hardened",
            confidence_floor=set_to.confidence_floor,
            supervisor=self.supervisor or "llm",
            plan=self.plan,
            plan_limits=set_to.plan_limits or PlanLimits(),
            rules=set_to.rules or RulesSettings(),
        )

    def floor(self) -> ConfidenceFloor:
        """How sure the supervisor of these options has to be for a report.

        Raises:
            ConfigurationError: the file of thresholds cannot be read.
        """
        return self._thresholds().confidence_floor or ConfidenceFloor()

    def _thresholds(self) -> Thresholds:
        return Thresholds() if self.thresholds is None else Thresholds.of(Path(self.thresholds))

    def metadata(self) -> dict[str, str]:
        """As they are kept beside a job."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {_PREFIX + name: value for name, value in said.items() if value is not None}

    @classmethod
    def from_metadata(cls, kept: Mapping[str, Any]) -> Self:
        """The options in `kept`; a job stored before there was a choice has none, and gets the defaults."""
        return cls(**{field.name: kept.get(_PREFIX + field.name) for field in fields(cls)}).completed()


def several(repos: Sequence[Path], paths: Sequence[str]) -> dict[str, str]:
    """The fields of `Options` for the checkouts after the first, and for the folders that are searched."""
    further = {"further_repos": json.dumps([str(repo) for repo in repos[1:]])} if repos[1:] else {}
    return further | ({"paths": json.dumps(list(paths))} if paths else {})


def _is_same(was: Path, now: Path) -> bool:
    """Whether a checkout is the one it was, or was moved and has its name."""
    return was == now or (not was.exists() and was.name == now.name)

"""Suites: cases, variants, candidate, reference and gate policy."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from evals.models.base import Closed
from evals.models.case import Choice, Split

Fraction = Annotated[float, Field(ge=0, le=1)]


class Models(Closed):
    """Which model answers for which agent. `default` serves every agent not named in `agents`.

    `tokens_counted_by` names the tokenizer that counted the recorded tokens where it is not the model's own, as when
    answers were given without an endpoint; reports say so. It is a note: no request and no key changes by it.
    """

    default: str = ""
    fallback: str = ""
    agents: dict[str, str] = Field(default_factory=dict)
    max_output_tokens: int | None = None
    tokens_counted_by: Annotated[str | None, Field(pattern=r"^\S+$")] = None

    def of(self, agent: str) -> str:
        """The model that answers for an agent."""
        return self.agents.get(agent, self.default)


EVERY_PROMPT: Final = "*"
"""Stands for all prompts in `prompts` of a variant; `prompts: git:REV` is short for it."""


def _by_name(prompts: object) -> object:
    return {EVERY_PROMPT: prompts} if isinstance(prompts, str) else prompts


class Variant(Closed, extra="allow"):
    """One configuration of the graph. What else is named is a setting of the pack, which checks it."""

    name: str
    models: Models = Models()
    config: Annotated[dict[str, Any], Field(exclude_if=lambda value: not value)] = Field(default_factory=dict)
    """What the graph is configured with: `configurable` or `context` of LangGraph."""
    prompts: Annotated[
        dict[str, str],
        BeforeValidator(_by_name, json_schema_input_type=dict[str, str] | str),
        Field(exclude_if=lambda value: not value),
    ] = Field(default_factory=dict)
    """Name of a prompt -> its version, its file, `git:REV`, `git:REV:VERSION`, or `v3 to v5 +2`; see
    `evals.prompt_versions` and `evals.prompt_hunks`."""
    revision: Annotated[str | None, Field(exclude_if=lambda value: value is None)] = None
    """The git revision of the whole target that runs; None: the working tree."""
    forced: Annotated[dict[int, Choice], Field(exclude_if=lambda value: not value)] = Field(default_factory=dict)
    """Decision (of a target from 0, else `Decision.iteration`) -> choice forced there in the router's place."""

    @model_serializer(mode="wrap")
    def _settings_behind_the_name(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """In the order of files written before settings were the pack's: digests of these still hold."""
        told: dict[str, Any] = handler(self)
        first = ["name", *self.settings]
        return {name: told[name] for name in [*first, *told] if name in told}

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the pack by name; see `evals.application_pack.Pack.completed`."""
        return dict(self.model_extra or {})


class Selection(Closed):
    """Which cases a suite runs: all that match every given field."""

    ids: tuple[str, ...] = ()
    splits: tuple[Split, ...] = ()
    tags: tuple[str, ...] = ()
    slices: Annotated[tuple[str, ...], Field(validation_alias=AliasChoices("slices", "archetypes"))] = ()


CostName = Literal["tokens", "calls", "price", "steps", "recorded_time"]


def _checked_limit(limit: float | str) -> float | str:
    ok = re.fullmatch(r"[+-]?\d+(\.\d+)? ?%", limit) if isinstance(limit, str) else limit >= 0
    if not ok:
        raise ValueError("write a change against the reference, such as +10 %, or a mean per case, such as 1200")
    return limit


CostLimit = Annotated[float | str, AfterValidator(_checked_limit)]
"""`+10 %` of what the reference costs, or a mean per case: tokens, calls, USD, steps, seconds."""


class GatePolicy(Closed):
    """What the gate demands. `margin` is the largest drop in a score that still counts as no worse. `models`: whether
    candidate and reference must be answered by the same models, or the suite compares models. `cost`: limits of what
    the candidate may cost; a cost without a limit is told and decides nothing."""

    coverage_floor: Fraction = 1.0
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    margin: Fraction = 0.05
    require: Literal["no_regression", "equivalence"] = "no_regression"
    models: Annotated[Literal["same", "compared"], Field(exclude_if=lambda value: value == "same")] = "same"
    cost: Annotated[dict[CostName, CostLimit], Field(exclude_if=lambda value: not value)] = Field(default_factory=dict)


class Suite(Closed):
    """What one `evals run` does. `dataset` is a folder below `datasets/`, or its path from the root; without, the cases
    are those of the checkout's own dataset."""

    name: str
    description: str = ""
    dataset: Annotated[str | None, Field(pattern=r"^[\w.][\w./@+ -]*$", exclude_if=lambda value: value is None)] = None
    cases: Selection = Selection()
    models: Models = Models()
    variants: Annotated[tuple[Variant, ...], Field(min_length=1)]
    candidate: str
    reference: str
    samples: Annotated[int, Field(ge=1)] = 1
    primary: Annotated[tuple[str, ...], Field(exclude_if=lambda value: not value)] = ()
    """The metrics that decide; none: those that `evals.toml` names, or that are primary themselves."""
    as_blessed: Annotated[tuple[str, ...] | None, Field(exclude_if=lambda value: value is None)] = None
    """Output fields that must be as in the blessed run, besides steps and decisions; None: all but free text where no
    metric decides, else nothing."""
    points: Annotated[dict[str, tuple[str, ...]] | None, Field(min_length=1, exclude_if=lambda ids: ids is None)] = None
    """Case -> the decision points that are asked, without running the graph: the suite has no verdict, and no other
    case. None: whole trials."""
    judge: Annotated[str | None, Field(pattern=r"^[\w.-]+$")] = None
    """Version of the judge's prompts; None: no model judges what was written."""
    gate: GatePolicy = GatePolicy()

"""What a good route looks like by archetype: the route labels a new case starts from, as lines of YAML.

A kit says what the case has to see to (search the code, search the web, ask), and what proves it; the policy pack is
joined in when the case is loaded. Authors change what is not true of their case.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from evals.models.case import Archetype

KitName = Literal["code", "web", "web_and_code", "ask", "critic_always", "no_search"]


@dataclass(frozen=True)
class Kit:
    """One alternative: constraints as flow mappings, steps, and exemplars as arrows."""

    constraints: tuple[str, ...]
    target: int
    max: int
    exemplars: tuple[str, ...]
    may_ask: bool = False
    overrides: tuple[str, ...] = ()

    @property
    def searches_web(self) -> bool:
        """Whether the web has to be searched."""
        return any("must:web_search" in constraint for constraint in self.constraints)

    def lines(self) -> list[str]:
        """The `route:` block."""
        return [
            "route:",
            "  - constraints:",
            *(f"      - {constraint}" for constraint in self.constraints),
            f"    target: {self.target}",
            f"    max: {self.max}",
            *([] if self.may_ask else ["    node_max: {human_input: 0}"]),
            *([f"    overrides: [{', '.join(self.overrides)}]"] if self.overrides else []),
            "    exemplars:",
            *(f"      - [{exemplar}]" for exemplar in self.exemplars),
        ]


END: Final = "{id: end, type: end, a: [writer], w: 2, hard: true}"
NEVER_ASK: Final = '{id: "never:human_input", type: existence, a: [human_input], max: 0, w: 2, hard: true}'
LOOK_FIRST: Final = (
    '{id: "codebase_search|web_search|human_input<critic", type: precedence, '
    "a: [codebase_search, web_search, human_input], b: [critic], w: 1}"
)
UNREVIEWED: Final = 'if: {reviews_before_writer: ["<", 1]}, w: 2, hard: true, proof: [harm]'


def _must(node: str, proof: str, *, weight: int = 2) -> str:
    demand = f'id: "must:{node}", type: existence, a: [{node}], min: 1'
    return f"{{{demand}, w: {weight}, hard: true, proof: [{proof}]}}"


def _unneeded(node: str) -> str:
    """Weighs 3: with 2 the longest kit would let one wasted visit pass at a fitness of just 0.9."""
    return f'{{id: "unneeded:{node}", type: existence, a: [{node}], max: 0, w: 3}}'


def _before(one: str, other: str, rest: str = "w: 1") -> str:
    return f'{{id: "{one}<{other}", type: precedence, a: [{one}], b: [{other}], {rest}}}'


_CODE: Final = (
    END,
    _must("codebase_search", "gold"),
    _before("codebase_search", "writer"),
    _unneeded("web_search"),
    NEVER_ASK,
    LOOK_FIRST,
)
_ASK: Final = (
    END,
    _must("human_input", "user", weight=3),
    '{id: ask_at_most_once, type: existence, a: [human_input], max: 1, w: 2}',
    '{id: look_before_asking, type: precedence, a: [codebase_search, web_search], b: [human_input], w: 1}',
    LOOK_FIRST,
)  # fmt: skip
KITS: Final[Mapping[KitName, Kit]] = {
    "code": Kit(
        _CODE,
        target=4,
        max=6,
        exemplars=(
            "investigator, codebase_search, critic, writer",
            "investigator, codebase_search, codebase_search, critic, writer",
        ),
    ),
    "web": Kit(
        (END, _must("web_search", "page"), _before("web_search", "writer"), NEVER_ASK, LOOK_FIRST),
        target=5,
        max=6,
        exemplars=(
            "investigator, web_search, critic, writer",
            "investigator, codebase_search, web_search, critic, writer",
        ),
    ),
    "web_and_code": Kit(
        (
            END,
            _must("codebase_search", "gold"),
            _must("web_search", "page"),
            _before("codebase_search", "writer"),
            _before("web_search", "writer"),
            NEVER_ASK,
            LOOK_FIRST,
        ),
        target=5,
        max=6,
        exemplars=(
            "investigator, codebase_search, web_search, critic, writer",
            "investigator, web_search, codebase_search, critic, writer",
        ),
    ),
    "ask": Kit(
        _ASK,
        target=5,
        max=7,
        exemplars=("investigator, codebase_search, human_input, critic, writer",),
        may_ask=True,
    ),
    "critic_always": Kit(
        (*_CODE, _before("critic", "writer", UNREVIEWED)),
        target=4,
        max=6,
        exemplars=(
            "investigator, codebase_search, critic, writer",
            "investigator, codebase_search, codebase_search, critic, writer",
        ),
        overrides=('"P2b.no_critic_if_conf>=0.85"',),
    ),
    "no_search": Kit(
        (END, NEVER_ASK, _unneeded("codebase_search"), _unneeded("web_search")),
        target=3,
        max=4,
        exemplars=("investigator, critic, writer", "investigator, writer"),
    ),
}
KIT_OF: Final[Mapping[Archetype, KitName]] = {
    "third_party": "web",
    "version_or_cryptic_error": "web",
    "duplicate": "web_and_code",
    "environment_ambiguity": "ask",
    "insufficient_information": "ask",
    "security": "critic_always",
    "data_corruption": "critic_always",
    "feature_request": "no_search",
}


def kit_of(archetype: Archetype) -> Kit:
    """The kit of an archetype; those not listed, and forms such as a huge log, start from a bug in the code."""
    return KITS[KIT_OF.get(archetype, "code")]

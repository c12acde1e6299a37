"""Which variants are versions of one system, and which are different systems whose prompts have nothing to compare."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.models.run import Run, VariantInfo


@dataclass(frozen=True)
class System:
    """Variants of one supervisor; the modes of a plan are one. `leader` is the one the others are compared with."""

    name: str
    variants: tuple[VariantInfo, ...]
    leader: VariantInfo


@dataclass(frozen=True)
class PromptText:
    """A prompt or a plan file as it is, and who reads it."""

    title: str
    note: str
    text: str


def systems(run: Run) -> tuple[System, ...]:
    """The systems of a run, in the order of their first variants."""
    found: dict[str, list[VariantInfo]] = {}
    for info in run.variants:
        found.setdefault(info.variant.supervisor.split("-")[0], []).append(info)
    return tuple(System(name, tuple(infos), _leader(run, infos)) for name, infos in found.items())


def _leader(run: Run, infos: Sequence[VariantInfo]) -> VariantInfo:
    """The reference if it is one of them, else the candidate, else the first."""
    named = {info.variant.name: info for info in infos}
    return named.get(run.reference) or named.get(run.candidate) or infos[0]


def difference(run: Run) -> str:
    """Who is a system of its own, in a sentence; empty where all variants are versions of one."""
    told = systems(run)
    if len(told) == 1:
        return ""
    named = "; ".join(f"{_names(system.variants)} ({_reads(system)})" for system in told)
    return (
        f"{len(told)} different systems, not versions of one prompt: {named}. "
        "Their prompts are shown as they are; lines are compared only inside a system."
    )


def prompt_texts(run: Run) -> tuple[PromptText, ...]:
    """Every prompt and every plan file once, where there is more than one system."""
    if len(systems(run)) == 1:
        return ()
    prompts: dict[tuple[str, str], list[VariantInfo]] = {}
    plans: dict[tuple[str, str], list[VariantInfo]] = {}
    for info in run.variants:
        if info.prompt_text:
            prompts.setdefault((f"Prompt {info.prompt_version}", info.prompt_text), []).append(info)
        if info.plan_text:
            plans.setdefault((f"Plan {info.variant.plan}", info.plan_text), []).append(info)
    return tuple(
        PromptText(title, f"read by {_names(readers)}", text)
        for texts in (prompts, plans)
        for (title, text), readers in texts.items()
    )


def _reads(system: System) -> str:
    reads = any(info.prompt_text for info in system.variants)
    return f"supervisor {system.name}" if reads else f"supervisor {system.name}, which reads no prompt"


def _names(infos: Sequence[VariantInfo]) -> str:
    return ", ".join(info.variant.name for info in infos)

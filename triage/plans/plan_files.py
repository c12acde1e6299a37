"""Plan files: modes, tasks and checks of their DAG."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, Protocol

import yaml
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from triage.errors import ConfigurationError, PlanError
from triage.state import WORKERS, TaskItem, Worker

Mode = Literal["fixed", "llm", "hybrid"]

MODES: Final[dict[str, Mode]] = {"plan-fixed": "fixed", "plan-llm": "llm", "plan-hybrid": "hybrid"}
"""Supervisor name -> mode."""


def starts_from_a_plan(mode: Mode) -> bool:
    """In `fixed` and `hybrid` a plan is given; in `llm` the first task is the supervisor's."""
    return mode != "llm"


def may_reshape(mode: Mode) -> bool:
    """In `llm` and `hybrid` tasks can be added and changed; in `fixed` the tools for it do not exist."""
    return mode != "fixed"


class Node(Protocol):
    """All the shape of a plan depends on."""

    @property
    def task_id(self) -> int:
        """Its number."""

    @property
    def dependencies(self) -> tuple[int, ...]:
        """The numbers it waits for."""


class PlanFault(NamedTuple):
    """What is wrong, and where: the place of the task in the list (-1: of none), and the field."""

    place: int
    field: str
    text: str


def faults(tasks: Sequence[Node]) -> tuple[PlanFault, ...]:
    """Everything that keeps `tasks` from being a plan, in order of the list. A cycle is looked for only where ids and
    dependencies are sound."""
    return (*_repeated(tasks), *_missing(tasks)) or _cycle(tasks)


def edges(tasks: Sequence[Node]) -> tuple[tuple[int, int], ...]:
    """The edges of the DAG, each from a task to one that waits for it."""
    return tuple((before, task.task_id) for task in tasks for before in task.dependencies)


def _repeated(tasks: Sequence[Node]) -> Iterator[PlanFault]:
    seen: set[int] = set()
    for index, task in enumerate(tasks):
        if task.task_id in seen:
            yield PlanFault(index, "task_id", f"there is a task {task.task_id} already; use another number")
        seen.add(task.task_id)


def _missing(tasks: Sequence[Node]) -> Iterator[PlanFault]:
    known = {task.task_id for task in tasks}
    for index, task in enumerate(tasks):
        for number in task.dependencies:
            if number not in known:
                text = f"task {task.task_id} depends on task {number}, which does not exist"
                yield PlanFault(index, "dependencies", f"{text}; known are {', '.join(map(str, sorted(known)))}")


def _cycle(tasks: Sequence[Node]) -> tuple[PlanFault, ...]:
    waits_for = {task.task_id: task.dependencies for task in tasks}
    for index, task in enumerate(tasks):
        if way := _way_back(task.task_id, waits_for):
            text = " -> ".join(map(str, way))
            return (PlanFault(index, "dependencies", f"tasks wait for each other ({text}); take one dependency out"),)
    return ()


def _way_back(start: int, waits_for: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """A way along the dependencies from `start` to itself, both ends included; empty if there is none."""
    ways: list[tuple[int, ...]] = [(start,)]
    seen: set[int] = set()
    while ways:
        way = ways.pop()
        for number in waits_for[way[-1]]:
            if number == start:
                return (*way, number)
            if number not in seen:
                seen.add(number)
                ways.append((*way, number))
    return ()


PLANS: Final = Path(__file__).parent

_OURS: Final = {"reasoning_steps": "notes", "sub_task_objective": "objective", "sub_task_dependencies": "dependencies"}
"""Names of the source document that mean the same as ours."""

Place = tuple[int | str, ...]
Said = tuple[int, str]
"""A line, counted from 1, and what is wrong there."""


class PlanTask(BaseModel):
    """One task as the file has it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    task_id: Annotated[int, Field(ge=1)]
    objective: Annotated[str, Field(min_length=1, validation_alias=AliasChoices("objective", "sub_task_objective"))]
    capability: Worker
    dependencies: Annotated[
        tuple[int, ...],
        Field(strict=False, validation_alias=AliasChoices("dependencies", "sub_task_dependencies")),
    ] = ()
    is_final: bool = False
    metadata: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """For people and programs that read the results; no request holds it."""


class PlanFile(BaseModel):
    """A plan file. Exactly one task is final: once it is completed the job is over. With `auto_mark_final` and no task
    marked, it is the one with the highest id."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    objective: Annotated[str, Field(min_length=1)]
    notes: Annotated[str, Field(validation_alias=AliasChoices("notes", "reasoning_steps"))] = ""
    metadata: dict[str, str | int | float | bool] = Field(default_factory=dict)
    auto_mark_final: bool = False
    tasks: Annotated[tuple[PlanTask, ...], Field(strict=False)]


def shipped_plans() -> tuple[str, ...]:
    """The plans that come with the package."""
    return tuple(sorted(path.stem for path in PLANS.glob("*.yaml")))


def plan_path(spec: str) -> Path:
    """The file of the plan called `spec`, or at that path (one that ends in .yaml or .yml).

    Raises:
        PlanError: there is no such file.
    """
    path = Path(spec) if Path(spec).suffix in {".yaml", ".yml"} else PLANS / f"{spec}.yaml"
    if not path.is_file():
        raise PlanError(f"{spec}: no such plan; choose one of {', '.join(shipped_plans())} or the path of a .yaml file")
    return path


def given_plan(mode: Mode, spec: str | None) -> tuple[TaskItem, ...]:
    """The tasks a job of `mode` begins with.

    Raises:
        ConfigurationError: a plan is missing, or there is one too many; PlanError: the plan itself is at fault.
    """
    if not starts_from_a_plan(mode):
        if spec is not None:
            raise ConfigurationError(f"plan-{mode} makes its own plan: leave out the plan {spec!r}, or use plan-hybrid")
        return ()
    if spec is None:
        raise ConfigurationError(f"plan-{mode} needs a plan: one of {', '.join(shipped_plans())} or a .yaml file")
    return load_plan(spec)


def load_plan(spec: str) -> tuple[TaskItem, ...]:
    """The tasks of the plan `spec`, in order of id, none of them begun.

    Raises:
        PlanError: no such plan, or one with faults; the message names the line of each.
    """
    return parse_plan(_text(spec), source=spec)


def plan_header(spec: str) -> dict[str, Any]:
    """What the plan `spec` is for, what its author noted, and the metadata of the plan and of its tasks by task number;
    for people and programs, no request holds it. Raises PlanError."""
    plan = _plan(_text(spec), spec)
    tasks = {str(task.task_id): task.metadata for task in plan.tasks if task.metadata}
    return {**plan.model_dump(include={"objective", "notes", "metadata"}), "task_metadata": tasks}


def _text(spec: str) -> str:
    try:
        return plan_path(spec).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PlanError(f"{spec}: not UTF-8 at byte {error.start}; save it as UTF-8") from error


def parse_plan(text: str, source: str) -> tuple[TaskItem, ...]:
    """The tasks of the plan written in `text`; `source` is what errors call it."""
    plan = _plan(text, source)
    tasks = [TaskItem(**task.model_dump(exclude={"metadata"})) for task in plan.tasks]
    if plan.auto_mark_final and not any(task.is_final for task in tasks):
        last = max(task.task_id for task in tasks)
        tasks = [task.model_copy(update={"is_final": task.task_id == last}) for task in tasks]
    return tuple(sorted(tasks, key=lambda task: task.task_id))


@lru_cache(64)
def _plan(text: str, source: str) -> PlanFile:
    """The plan written in `text`. Raises PlanError."""
    try:
        plan, said = _checked(text)
    except yaml.MarkedYAMLError as error:
        raise PlanError(f"{source}: line {_marked(error.problem_mark)}: not YAML ({error.problem})") from error
    except yaml.YAMLError as error:  # a character that no YAML file may hold
        raise PlanError(f"{source}: not YAML ({str(error).splitlines()[0]})") from error
    if plan is None or said:
        raise PlanError(f"{source}: {'; '.join(f'line {line}: {what}' for line, what in sorted(said))}")
    return plan


def _checked(text: str) -> tuple[PlanFile | None, list[Said]]:
    """The plan, and all that is wrong with the file; no plan where that keeps it from being read."""
    shared = [event for event in yaml.parse(text, yaml.SafeLoader) if isinstance(event, yaml.AliasEvent)]
    if shared:
        return None, [(_marked(event.start_mark), "aliases are not allowed; write it out") for event in shared]
    node = yaml.compose(text, yaml.SafeLoader)
    if node is None:
        return None, [(1, "the file is empty; it needs `objective` and `tasks`")]
    lines: dict[Place, int] = {}
    if twice := list(_numbered(node, (), lines)):
        return None, twice
    try:
        plan = PlanFile.model_validate(yaml.safe_load(text))
    except ValidationError as error:
        return None, [(_line(found["loc"], lines), _worded(found)) for found in error.errors()]
    found = (*faults(plan.tasks), *_final_faults(plan))
    return plan, [(_line(("tasks", fault.place, fault.field), lines), fault.text) for fault in found]


def _numbered(node: yaml.Node, place: Place, lines: dict[Place, int]) -> Iterator[Said]:
    """Enter the line of `node` and all below it; yields keys that stand twice, which YAML would not mention."""
    lines.setdefault(place, _marked(node.start_mark))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _numbered(item, (*place, index), lines)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = str(key.value)
            here = (*place, name if "metadata" in place else _OURS.get(name, name))
            if here in lines:
                yield _marked(key.start_mark), f"`{key.value}` stands here for the second time"
            lines[here] = _marked(key.start_mark)
            yield from _numbered(value, here, lines)


def _marked(mark: Any) -> int:  # noqa: ANN401 - libyaml has a type of its own for marks
    """The line of a mark, counted from 1."""
    return int(mark.line) + 1 if mark else 1


def _final_faults(plan: PlanFile) -> Iterator[PlanFault]:
    marked = [index for index, task in enumerate(plan.tasks) if task.is_final]
    for index in marked[1:]:
        yield PlanFault(index, "is_final", f"task {plan.tasks[index].task_id} is a second final task; mark only one")
    if not plan.tasks:
        yield PlanFault(-1, "", "there is no task; a plan needs at least its final one")
    elif not marked and not plan.auto_mark_final:
        yield PlanFault(-1, "", "no task is final; write `is_final: true` at one, or `auto_mark_final: true` above")


def _line(place: Place, lines: Mapping[Place, int]) -> int:
    """The line of `place`, or of the nearest thing around it that is there."""
    place = tuple(_OURS.get(part, part) if isinstance(part, str) else part for part in place)
    while place and place not in lines:
        place = place[:-1]
    return lines[place]


def _worded(found: Any) -> str:  # noqa: ANN401 - pydantic's ErrorDetails
    where = ".".join(map(str, found["loc"])) or "the file"
    if found["loc"][-1:] == ("capability",) and found["type"] == "literal_error":
        return f"unknown capability {found['input']!r}; known are {', '.join(WORKERS)}"
    return f"{where}: {found['msg'][0].lower()}{found['msg'][1:]}"

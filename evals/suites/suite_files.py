"""Suite files: read, validated, and changed by options of the command line."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from evals.application_pack import Pack, load_pack
from evals.errors import CannotJudgeError, ConfigurationError, nearest_name
from evals.models.case import Case
from evals.models.suite import Selection, Suite, Variant
from evals.paths import PACKAGE
from evals.project import FILE, Project
from evals.safe_yaml import LOADER, beyond_bounds, double_key

SUITES: Final = Path(__file__).parent
HERE: Final = Path()
USUAL: Final = "prompts"
"""The suite that commands take where none is named; the only one of a project that has no such suite."""
_MANY: Final = 10  # cases named in an error
_BLESSED: Final = " (baseline)"  # after a variant's name it stands for what was blessed
NAME: Final = re.compile(r"[\w@+-][\w.@+ -]*")
"""Of a suite: one part of a path, and no hidden file. Its baseline is named by it."""


def names(root: Path = HERE) -> tuple[str, ...]:
    """The suites of the project at `root`: those that ship with this package, or those of the folder it names."""
    return tuple(sorted(path.stem for path in suites_folder(root).glob("*.yaml")))


def suites_folder(root: Path) -> Path:
    """The folder of the suites that are called by name."""
    own = Project.at(root).suites
    return SUITES if own is None else root / own


def names_on(dataset: str | None, root: Path = HERE) -> tuple[str, ...]:
    """The shipped suites whose cases are those of a dataset below `datasets/`; None: of the checkout's own."""
    return tuple(name for name in names(root) if read_suite(name, root).dataset == dataset)


def read_suite(name_or_path: str, root: Path = HERE) -> Suite:
    """Read a suite of the project at `root` by name, or any suite by path.

    Raises:
        ConfigurationError: no such suite, or one that does not validate.
    """
    path = suite_file(name_or_path, root)
    try:
        raw = _plain(path.read_text(encoding="utf-8"), path)
        return _completed(_checked(_strictly(_with_defaults(raw, path)), path, root), path, root)
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8 at byte {error.start}") from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}: not YAML: {str(error).splitlines()[0]}") from error
    except TypeError as error:  # of JSON, which all else fits
        raise ConfigurationError(f"{path}: a key that is no text; quote it") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{path}: {where}: {first['msg']}") from error


def _strictly(raw: Mapping[str, Any]) -> Suite:
    """Types as they are written: `true` is no number, "3" neither."""
    return Suite.model_validate_json(json.dumps(raw, default=str), strict=True)


def _completed(suite: Suite, path: Path, root: Path) -> Suite:
    """The suite with all settings of the pack in every variant."""
    pack = load_pack(Project.at(root).pack, root)
    try:
        return suite.model_copy(update={"variants": tuple(map(pack.completed, suite.variants))})
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error


def _plain(text: str, path: Path) -> object:
    """The file's YAML as plain data."""
    if too_far := beyond_bounds(text):
        raise ConfigurationError(f"{path}:{too_far[0]}: {too_far[1]}; write it plainly")
    node = yaml.compose(text, Loader=LOADER)
    if node is not None and (double := double_key(node)):
        raise ConfigurationError(f"{path}:{double[0]}: the key {double[1]!r} stands here twice; take one out")
    return yaml.load(text, Loader=LOADER)  # noqa: S506 - a safe loader, whichever there is


def _refuse_without_settings(root: Path) -> None:
    """Say where the settings are, or how they are made, where the folder is one of a graph."""
    if above := next((each for each in root.parents if (each / FILE).is_file()), None):
        raise ConfigurationError(f"the {FILE} is in {above}: go there, or name it with --root")
    if (root / "langgraph.json").is_file() and PACKAGE.parent != root:  # this project's own checkout has none
        raise ConfigurationError(f"this project has no {FILE} yet; `evals init` writes it and a first suite")


def suite_file(name_or_path: str, root: Path = HERE) -> Path:
    """The file of a suite. Raises ConfigurationError if there is none."""
    known = names(root)
    if name_or_path == USUAL and USUAL not in known and len(known) == 1:
        name_or_path = known[0]
    path = suites_folder(root) / f"{name_or_path}.yaml"
    if not path.exists():
        path = Path(name_or_path)
    if not path.is_file():
        if (other := suites_folder(root) / f"{name_or_path}.yml").is_file():
            raise ConfigurationError(f"{other}: is not read, as suites end in .yaml; call it {name_or_path}.yaml")
        if not (root / FILE).exists():
            _refuse_without_settings(root.resolve())
        usual = " (taken where none is named)" if name_or_path == USUAL else ""
        raise ConfigurationError(
            f"no suite {name_or_path!r}{usual}: name one of {', '.join(known)}, or a YAML file that exists"
            f"{nearest_name(name_or_path, known)}"
        )
    return path


def _with_defaults(raw: object, path: Path) -> dict[str, Any]:
    """The suite is named by its file, the last variant is judged against the first, and a variant without `models` uses
    the suite's; one with some of them overrides those."""
    if not isinstance(raw, dict):
        raise ConfigurationError("a suite is a YAML mapping; see evals/suites/prompts.yaml")
    variants = raw.get("variants")
    if not isinstance(variants, list):
        return raw  # the model says what is wrong with it
    names = [one.get("name") for one in variants if isinstance(one, dict)] or [None]
    usual = {"name": path.stem, "candidate": names[-1], "reference": names[0]}
    return {**usual, **raw, "variants": [_with_models(variant, raw.get("models")) for variant in variants]}


def _with_models(variant: object, shared: object) -> object:
    if not isinstance(variant, dict) or not isinstance(shared, dict):
        return variant
    own = variant.get("models") or {}
    return {**variant, "models": {**shared, **own} if isinstance(own, dict) else own}


def _checked(suite: Suite, path: Path, root: Path) -> Suite:
    if path.parent.resolve() != suites_folder(root).resolve() and suite.name in names(root):
        raise ConfigurationError(
            f"{path}: a shipped suite is called {suite.name!r}, and has its baseline; use another name"
        )
    if not NAME.fullmatch(suite.name):
        raise ConfigurationError(
            f"{path}: name {suite.name!r} is to be part of a file's name: use letters, digits, blanks and ._@+- alone"
        )
    if forced := [variant.name for variant in suite.variants if variant.forced]:
        raise ConfigurationError(
            f"{path}: variant {forced[0]}: `forced` is set by --decisive and --forced; leave it out"
        )
    known = [variant.name for variant in suite.variants]
    if wrong := [name for name in known if not name.strip() or name.endswith(_BLESSED)]:
        raise ConfigurationError(f"{path}: a variant is called {wrong[0]!r}: use a name, and one without {_BLESSED!r}")
    if len(set(known)) != len(known):
        raise ConfigurationError(f"{path}: two variants share a name: {', '.join(known)}")
    for role, name in (("candidate", suite.candidate), ("reference", suite.reference)):
        if name not in known:
            raise ConfigurationError(f"{path}: {role} {name!r} is no variant; name one of {', '.join(known)}")
    if suite.candidate == suite.reference and len(known) > 1:
        raise ConfigurationError(f"{path}: {suite.candidate!r} is candidate and reference; name two variants")
    return suite


def select(cases: Mapping[str, Case], selection: Selection, only: Sequence[str] = ()) -> list[Case]:
    """The suite's cases in order of id, narrowed to `only` when given.

    Raises:
        CannotJudgeError: nothing is selected; a run over no case must never be green.
        ConfigurationError: an id that is no case of the dataset, or not of this suite.
    """
    unknown = [case_id for case_id in (*selection.ids, *only) if case_id not in cases]
    if unknown:
        hint = (
            nearest_name(unknown[0], cases) or f"; there are {', '.join([*sorted(cases)[:_MANY], '…'][: len(cases)])}"
        )
        raise ConfigurationError(f"no such case: {', '.join(unknown)}{hint}")
    chosen = [case for _, case in sorted(cases.items()) if _matches(case, selection)]
    strangers = sorted(set(only) - {case.id for case in chosen})
    if strangers:
        raise ConfigurationError(f"not in this suite: {', '.join(strangers)}")
    chosen = [case for case in chosen if not only or case.id in only]
    if not chosen:
        raise CannotJudgeError("no case is selected, so there is nothing to judge; check `cases:` in the suite")
    return chosen


def _matches(case: Case, selection: Selection) -> bool:
    labels = case.known
    return (
        (not selection.ids or case.id in selection.ids)
        and (not selection.splits or labels.split in selection.splits)
        and (not selection.tags or bool(set(selection.tags) & set(labels.tags)))
        and (not selection.slices or labels.kind in selection.slices)
    )


def altered(suite: Suite, changes: Mapping[str, Any], pack: Pack) -> Suite:
    """The suite with every variant changed the same way; the variants' names say so, so that no baseline and
    no other run can be mistaken for them. What asks for nothing else than all of them have changes nothing.

    Raises:
        ConfigurationError: the pack has no such setting, or it cannot have such a value.
    """
    if all(variant.settings.get(key) == value for variant in suite.variants for key, value in changes.items()):
        return suite
    suffix = "".join(pack.run_settings.get(name, "+{}").format(value) for name, value in changes.items())
    named = ({**variant.model_dump(), **changes, "name": variant.name + suffix} for variant in suite.variants)
    variants = tuple(pack.completed(Variant.model_validate(each)) for each in named)
    return suite.model_copy(
        update={
            "variants": variants,
            "candidate": suite.candidate + suffix,
            "reference": suite.reference + suffix,
        }
    )

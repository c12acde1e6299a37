"""Scratch checkouts over the committed data: a command may cache, record and report in them, and nothing is touched."""

import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.bench.cost import REPOSITORY
from tests.builders.dataset import write

SHARED = ("datasets", "requirements.lock", "triage")


def a_scene(folder: Path, *, cassettes: bool = True) -> Path:
    """A checkout in `folder` with nothing cached; its cassettes are copies, or only the vectors."""
    folder.mkdir(parents=True)
    for name in SHARED:
        (folder / name).symlink_to(REPOSITORY / name)
    shutil.copytree(REPOSITORY / "evals" / "suites", folder / "evals" / "suites")
    shutil.copytree(REPOSITORY / "cassettes", folder / "cassettes")
    if not cassettes:
        for path in (folder / "cassettes").glob("*.yaml"):
            path.unlink()
    return folder


def a_suite(folder: Path, name: str, cases: dict[str, Any], variants: list[dict[str, Any]]) -> Path:
    """A suite file of the scene over the models of the committed recordings; the last two variants are compared."""
    shipped = yaml.safe_load((REPOSITORY / "evals" / "suites" / "prompts.yaml").read_text(encoding="utf-8"))
    content = {
        "name": name,
        "description": "Measured.",
        "cases": cases,
        "models": shipped["models"],
        "variants": variants,
        "candidate": variants[-1]["name"],
        "reference": variants[-2]["name"],
    }
    return write(folder / f"{name}.yaml", yaml.safe_dump(content, sort_keys=False))


def forget(scene: Path) -> Path:
    """Nothing cached from here on; the scene again."""
    shutil.rmtree(scene / ".cache", ignore_errors=True)
    return scene


def remembered(scene: Path) -> Path:
    """A copy of what is cached now, for `again`."""
    copy = scene.with_name(f"{scene.name}-cache")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(scene / ".cache", copy)
    return copy


def again(scene: Path, cached: Path) -> Path:
    """Cached is what was when `cached` was taken; the scene again."""
    forget(scene)
    shutil.copytree(cached, scene / ".cache")
    return scene

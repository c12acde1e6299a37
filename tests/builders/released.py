"""Small releases in a folder that pip takes for an index, and a dataset with a case about them. No network."""

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.package_store import Release
from tests.builders.dataset import ISSUE, POLICY, a_case_file, a_case_folder, write

FILLER: Final = "".join(f"def helper_{number}(value):\n    return value + {number}\n\n\n" for number in range(400))
CART: Final = '''"""Adds up what a customer buys."""


def rounded(amount):
    return round(amount, 2)


def net_total(prices):
    """The sum without tax, in the currency of the shop."""
    if not prices:
        return 0
    total = sum(prices[START:])
    in_cents = total * 100
    return rounded(in_cents / 100)


class Cart:
    """A list of prices that the customer has put together."""

    def __init__(self, prices):
        self.prices = list(prices)
'''
FAULTY: Final = {"shop/__init__.py": "", "shop/cart.py": CART.replace("START", "1"), "shop/more.py": FILLER}
MENDED: Final = FAULTY | {"shop/cart.py": CART.replace("START", "0")}
REPRO: Final = "from shop.cart import net_total\n\nassert net_total([1, 2]) == 3\n"
CASE: Final = "wrong-total"


def a_wheel(
    folder: Path, version: str, files: Mapping[str, str | bytes], package: str = "shop", tag: str = ""
) -> Release:
    """A wheel of these files in the folder; what names it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{package}-{version}-{tag or 'py3-none-any'}.whl"
    info = f"{package}-{version}.dist-info"
    told = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in (files | told | {f"{info}/RECORD": ""}).items():
            wheel.writestr(zipfile.ZipInfo(name), text)
    return Release(package=package, version=version, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def asked_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on pip asks this folder alone."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def a_released_dataset(
    root: Path, faulty: Release, mended: Release | None, needs: tuple[Release, ...] = (), **labels: Any
) -> Path:
    """A dataset with one case, about `faulty`, which `mended` mends; `labels` replace those of the case."""
    layout = Layout(root)
    write(layout.policy, POLICY.read_text(encoding="utf-8"))
    about = {"repository": "someone/shop", "description": "A shop.", "source": faulty.model_dump()}
    if needs:
        about["needs"] = [release.model_dump() for release in needs]
    name = f"{faulty.package}-{faulty.version}"
    write(layout.codebase(name) / "codebase.yaml", yaml.safe_dump(about, sort_keys=False))
    told = a_case_file() | {"codebase": name}
    if mended is not None:
        told["fixed"] = mended.model_dump(exclude={"package"} if mended.package == faulty.package else set())
    a_case_folder(root, told | labels, issue=ISSUE, patch=None, repro=REPRO)
    return root

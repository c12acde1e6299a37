"""Paths of this package's own files."""

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent

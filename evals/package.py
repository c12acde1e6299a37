"""Where this package's own files are: what is kept, blessed or watched depends on them, too.

A module of its own, since `evals` itself is the door above all layers, and nothing below may import it.
"""

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent

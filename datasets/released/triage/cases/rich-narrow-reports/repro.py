"""A report that goes to a file is laid out for 80 columns."""

import io

from rich.console import Console

assert Console(file=io.StringIO()).width == 80, Console(file=io.StringIO()).width

"""Every month has a last day, and a book may reach into any of them."""

import contextlib
import io
import tempfile
from pathlib import Path

from ledgerline.cli import main

JOURNAL = "2026-12-31 * Depreciation\n    Expenses:Depreciation  412.00 EUR\n    Assets:Equipment  -412.00 EUR\n"

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    config, journal = root / "ledgerline.toml", root / "book" / "2026" / "2026-12.journal"
    journal.parent.mkdir(parents=True)
    config.write_text("", encoding="utf-8")
    journal.write_text(JOURNAL, encoding="utf-8")
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            code = main(["--config", str(config), "balance"], environ={})
    except ValueError as error:
        raise AssertionError(f"balance fails: {error}") from None
assert (code, "-412.00 EUR" in printed.getvalue()) == (0, True), printed.getvalue()

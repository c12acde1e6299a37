"""Programs that this repository uses on itself; no part of the package."""

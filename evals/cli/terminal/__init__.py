"""What several commands show: consoles, tables, verdicts, progress, annotations; and whom they ask."""

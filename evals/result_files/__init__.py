"""Result files of other tools, and plain tables, read as values per case, variant and metric."""

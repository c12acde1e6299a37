"""Other shapes of the same result: files for machines, Markdown for pull requests."""

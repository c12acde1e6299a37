"""Reports of a run: HTML, Markdown, JUnit, JSON, annotations and data frames."""

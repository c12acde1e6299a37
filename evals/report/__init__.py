"""Reports of a run: HTML, Markdown, JUnit, JSON and data frames."""

"""The suites that ship with the project, as YAML, and the code that reads them."""

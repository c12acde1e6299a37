"""Plans are files: each is one YAML list of tasks, read and checked here."""

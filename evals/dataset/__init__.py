"""The labelled issues: reading them, building the code they are about, and proving their labels."""

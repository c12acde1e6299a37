"""Over time: every blessed baseline of a suite out of git, what changed between two, and since when a case is red."""

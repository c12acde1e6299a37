"""Secret scanner: what a secret looks like, for everything that writes or sends text."""

"""From scored trials to comparisons and a verdict."""

"""Statistics for paired comparisons of few cases."""

"""Statistics for paired comparisons of few cases: exact where possible, resampled by cluster where not."""

"""Reports that are known to be broken, or known to be as good as before: made by rule, from good recorded ones."""

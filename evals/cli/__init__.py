"""The command line: options are wired to the machine here and nowhere else."""

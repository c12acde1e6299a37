"""One file per command: plain arguments in, an exit code out. Heavy imports wait inside."""

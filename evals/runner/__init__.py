"""Run all trials of a suite offline, in worker processes, reusing unchanged ones."""

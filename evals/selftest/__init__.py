"""Does the gate do what it says? Known faults are planted and must be caught; nothing at all must raise no alarm."""

"""What the tape lacks and why: the causes of misses, and what recording them is going to take."""

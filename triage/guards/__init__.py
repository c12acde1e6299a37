"""Routing guards: what the code insists on, whatever the supervisor chose."""

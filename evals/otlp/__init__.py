"""A stored run as OpenTelemetry traces with the GenAI semantic conventions, for viewers such as Jaeger or Phoenix.

A trial is planned as data first (`plan`), what may not leave is withheld from that, the SDK makes spans of it (`emit`),
and they go into a file (`lines`) or to a receiver (`send`). Nothing else in this package or `triage` imports it.
"""

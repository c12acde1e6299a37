"""A stored run as OpenTelemetry traces."""

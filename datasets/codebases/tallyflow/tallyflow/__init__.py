"""From raw meter readings to interval values, totals and reports."""

__version__ = "2.4.1"

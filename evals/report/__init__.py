"""The HTML report: a view of ready strings, then a template without thought."""

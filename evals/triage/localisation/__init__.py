"""Localisation without the graph: any tool's ranked files and functions against where the fixes were."""

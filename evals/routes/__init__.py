"""Routes checked against specifications of partially ordered constraints."""

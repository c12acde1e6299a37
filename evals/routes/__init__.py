"""Routes against specifications: partially ordered rules over worker visits, never one golden path."""

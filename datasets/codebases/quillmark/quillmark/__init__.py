"""quillmark: a lightweight markup language, a small template language, and a site builder that joins them."""

__version__ = "2.4.0"

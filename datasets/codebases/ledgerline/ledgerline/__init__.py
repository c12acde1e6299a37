"""ledgerline: from bank statements to closed months, in plain text files."""

__version__ = "2.4.0"

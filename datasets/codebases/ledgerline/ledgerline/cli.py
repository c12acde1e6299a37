"""The command line: `ledgerline import | balance | income | register | close | reopen | check`."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from ledgerline import __version__
from ledgerline.balances import balances_at
from ledgerline.book import Book
from ledgerline.closing import check_book, close_month, reopen_month
from ledgerline.config import Settings, find_config, load_settings
from ledgerline.errors import LedgerlineError
from ledgerline.importing import Importer
from ledgerline.periods import Month
from ledgerline.rates import RateTable, load_rates
from ledgerline.reports import balance_table, income_table, register_table
from ledgerline.rules import load_rules

EXIT_OK = 0
EXIT_PROBLEMS = 1
EXIT_ERROR = 2


@dataclass(frozen=True)
class App:
    """What every command needs."""

    settings: Settings
    book: Book

    def rates(self) -> RateTable:
        """The exchange rates; read only by the commands that convert."""
        return load_rates(self.settings.path(self.settings.rates), self.settings.base_currency)


def _import(app: App, options: argparse.Namespace) -> int:
    settings = app.settings
    rules = load_rules(settings.path(settings.rules), settings.fallback_account)
    importer = Importer(app.book, rules, settings)
    result = importer.run(settings.bank(options.bank), options.files, dry_run=options.dry_run)
    verb = "would be booked" if options.dry_run else "booked"
    print(f"{result.read} lines: {len(result.booked)} {verb}, {result.known} known, {result.unsorted} without a rule")
    return EXIT_OK


def _balance(app: App, options: argparse.Namespace) -> int:
    months = app.book.months()
    if not months:
        print("the book is empty")
        return EXIT_OK
    day = options.at or months[-1].last
    print(balance_table(balances_at(app.book, day), app.rates(), day).render(), end="")
    return EXIT_OK


def _income(app: App, options: argparse.Namespace) -> int:
    first = Month.parse(options.first)
    last = Month.parse(options.last) if options.last else first
    print(income_table(app.book.transactions(first, last), app.rates()).render(), end="")
    return EXIT_OK


def _register(app: App, options: argparse.Namespace) -> int:
    print(register_table(app.book.transactions(), options.account).render(), end="")
    return EXIT_OK


def _close(app: App, options: argparse.Namespace) -> int:
    month = Month.parse(options.month)
    close_month(app.book, month)
    print(f"{month} is closed")
    return EXIT_OK


def _reopen(app: App, options: argparse.Namespace) -> int:
    month = Month.parse(options.month)
    reopen_month(app.book, month)
    print(f"{month} is open again")
    return EXIT_OK


def _check(app: App, _: argparse.Namespace) -> int:
    problems = check_book(app.book)
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{len(app.book.months())} months, nothing wrong")
    return EXIT_PROBLEMS if problems else EXIT_OK


_COMMANDS: dict[str, Callable[[App, argparse.Namespace], int]] = {
    "import": _import,
    "balance": _balance,
    "income": _income,
    "register": _register,
    "close": _close,
    "reopen": _reopen,
    "check": _check,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ledgerline", description="Bookkeeping in plain text files.")
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("--config", type=Path, help="configuration file")
    parser.add_argument("--traceback", action="store_true", help="show where an error comes from")
    commands = parser.add_subparsers(dest="command", required=True)
    importing = commands.add_parser("import", help="book bank statements")
    importing.add_argument("bank", help="name of a [banks.*] table")
    importing.add_argument("files", type=Path, nargs="+")
    importing.add_argument("--dry-run", action="store_true", help="write nothing")
    balance = commands.add_parser("balance", help="what accounts hold")
    balance.add_argument("--at", type=date.fromisoformat, help="a day, like 2026-03-31")
    income = commands.add_parser("income", help="income and expenses of some months")
    income.add_argument("first", help="a month, like 2026-03")
    income.add_argument("last", nargs="?")
    commands.add_parser("register", help="one account, booking by booking").add_argument("account")
    commands.add_parser("close", help="freeze a month").add_argument("month")
    commands.add_parser("reopen", help="take a closing back").add_argument("month")
    commands.add_parser("check", help="is the book whole?")
    return parser


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        settings = load_settings(find_config(options.config, os.environ if environ is None else environ))
        logging.basicConfig(level=settings.log_level.upper(), format="%(levelname)s %(name)s: %(message)s")
        return _COMMANDS[options.command](App(settings, Book(settings.path(settings.book))), options)
    except LedgerlineError as error:
        if options.traceback:
            raise
        print(f"ledgerline: {error}", file=sys.stderr)
        return EXIT_ERROR

"""The `evals` command: names, options and help texts; each command's work is in `evals.cli`.

Exit codes, for every command:

    0    done; for `run`: judged, and not worse
    1    for `run`: judged, and worse; for `drift`: drifted; for `dataset lint`: something is wrong; for `cassette
         merge`: a conflict; for `sweep`: the choice failed on split `gate`; for `selftest`: a fault was missed, or too
         many false alarms
    2    wrong usage or configuration; one line on stderr says what to do
    3    cannot judge: not recorded, corrupt, failed, or not comparable; for `plan` and `judge`: something is missing;
         for `record`: the endpoint failed, or a limit (--budget, --max-requests) was reached; for `drift`: so too, or
         it cannot tell; for `cassette verify`: something is wrong; for `langsmith`: no network, it does not take what
         it is given, or something looks like a secret
    130  interrupted; what was finished is kept
    141  nobody reads the output any more, as after `| head`
"""

import inspect
import os
import traceback
from collections.abc import Mapping
from contextvars import copy_context
from importlib import import_module
from pathlib import Path
from typing import Final, cast

import typer

from evals.application_pack import DEFAULT, Command, installed_pack, load_pack
from evals.atomic_files import REMEDIES
from evals.cli.deprecated_syntax import advice, is_old, renewed
from evals.cli.options import HERE, global_options, split
from evals.cli.terminal import VisibleConsole
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, ConfigurationError, EvalsError
from evals.project import ANY_GRAPH, Project
from evals.shared.command_lifecycle import missing_extra
from evals.shared.display_text import joined_lines

COMMANDS: Final = {
    "init": ("init_command", "init_app", "Set up a project that has a langgraph.json."),
    "run": ("run_command", "running", "Replay a suite offline, score it, decide the verdict, and write the report."),
    "compare": (
        "verdict_commands",
        "judging",
        "Compare variants, prompt files, revisions, stored runs or result files.",
    ),
    "gate": ("verdict_commands", "judging", "Judge a stored run again, or the shards of one run together."),
    "selftest": ("verdict_commands", "judging", "Plant faults that must be caught, and count false alarms."),
    "metrics": ("verdict_commands", "judging", "Say what each metric can show, and recommend primary metrics."),
    "noise": ("verdict_commands", "judging", "Say how often a threshold on a mean fails by chance."),
    "attribute": ("attribute_command", "attributing", "Say which lines of a prompt changed which decisions."),
    "bless": ("verdict_commands", "judging", "Make the suite's present results its baseline."),
    "plan": ("record_commands", "recording", "List missing answers, why they are missing, and the recording's cost."),
    "record": ("record_commands", "recording", "Record missing answers from an endpoint, and check that they replay."),
    "drift": ("drift_command", "drifting", "Ask a sample of the recorded requests again, and compare the answers."),
    "report": ("report_commands", "exporting", "Write the report of a stored run anew, or a table (CSV, Parquet)."),
    "view": ("report_commands", "viewing", "Open the last report in a browser, or serve it to this machine only."),
    "history": ("history_command", "history_app", "Show every blessed baseline of a suite in git."),
    "explain": ("explain_command", "explaining", "Show one trial, or two side by side, on one screen."),
    "schema": ("report_commands", "exporting", "Print the JSON Schema of what this version writes."),
    "routes": ("routes_score_command", "routes", "Score routes against a specification."),
    "cassette": ("cassette_commands", "cassette", "Read, check and tidy cassettes (recorded answers)."),
    "judge": ("judge_commands", "judging", "How often does the model that grades reports see a planted defect?"),
    "export": ("otlp_command", "export", "Export a stored run for another tool."),
    "langsmith": ("langsmith_commands", "langsmith", "Send cases and runs to LangSmith."),
}
"""Command or group of the core -> module below `evals.cli`, its Typer application there, and one line of help.

Only the module of the command that was typed is imported: together they take three seconds."""


def all_commands(root: Path = HERE) -> dict[str, Command]:
    """The commands of the core, then those of the pack of the project at `root` where it is installed; modules by their
    full names.

    Raises:
        ConfigurationError: the project's `evals.toml` cannot be read.
    """
    pack = installed_pack(Project.at(root).pack, root)
    core = {name: (f"evals.cli.{module}", application, line) for name, (module, application, line) in COMMANDS.items()}
    return {**core, **(pack.commands if pack else {})}


def app(arguments: list[str], *, standalone_mode: bool = True) -> object:
    """Run the command line `arguments`; without standalone mode, what the command returned."""
    if arguments == ["--version"]:
        from importlib.metadata import version

        print(f"evals {version('triage-evals')}")
        return EXIT_OK
    if is_old(arguments):
        _complain(advice(arguments))
    front, rest = split(renewed(arguments))
    known = all_commands(_root_in(front))
    words = rest or os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()
    typed = next((word for word in words if word in known), None)
    if not typed:
        _say_missing_commands(_root_in(front))
    pack = None if typed or not rest else installed_pack()
    if pack and rest[0] in pack.commands:
        raise ConfigurationError(f"`evals {rest[0]}` is a command of {DEFAULT}; this project has another pack")
    if not typed and rest and not rest[0].startswith("-") and rest[0] in (others := load_pack(ANY_GRAPH).commands):
        if "--help" in rest:
            return command_line(others, rest[0])([*front, *rest], standalone_mode=standalone_mode)
        needs = "needs a project with an evals.toml: go to its folder, or make one with `evals init`"
        raise ConfigurationError(f"`evals {rest[0]}` {needs}")
    return command_line(known, typed)([*front, *rest], standalone_mode=standalone_mode)


def _say_missing_commands(root: Path) -> None:
    """Why commands of the project's pack are not listed, where it names one that cannot be used."""
    name = Project.at(root).pack
    try:
        _ = name == DEFAULT or load_pack(name, root)
    except ConfigurationError as error:
        _complain(f"{error}; its commands are missing here")


def _root_in(options: list[str]) -> Path:
    """The project that `--root` names, before the options are read: its pack may add the command."""
    for word, following in zip(options, [*options, ""][1:], strict=True):
        name, _, value = word.partition("=")
        if name == "--root" and (value or following):
            return Path(value or following)
    return HERE


def command_line(known: Mapping[str, Command], *loaded: str | None) -> typer.Typer:
    """The whole command line, of which only the commands named in `loaded` can be run; of the others it has the name
    and the line of help.
    """
    whole = typer.Typer(
        name="evals",
        help="Did my change make it worse? Offline evaluation and prompt regression for agent graphs.",
        epilog=(
            "Exit codes: 0 not worse (or done) · 1 worse · 2 usage or configuration · 3 cannot judge · 130 interrupted."
        ),
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
    )
    whole.callback()(global_options)
    for name, (_, _, line) in known.items():
        if " " in name:
            continue  # loaded with its group
        if name in loaded:
            found = _application(known, name)
            is_group = all(command.name != name for command in found.registered_commands)
            whole.add_typer(found, name=name if is_group else None)
        else:
            whole.command(name, help=line)(_not_loaded)
    return whole


def _application(known: Mapping[str, Command], name: str) -> typer.Typer:
    """The application of a command or group; a group with what the pack adds to it, listed last."""
    own, *added = (
        _with_joined_lines(cast("typer.Typer", getattr(import_module(module), application)))
        for key, (module, application, _) in known.items()
        if key == name or key.startswith(f"{name} ")
    )
    if not added:
        return own
    joined = typer.Typer(help=own.info.help, no_args_is_help=True)
    for each in (own, *added):
        joined.add_typer(each)
    return joined


def _with_joined_lines(application: typer.Typer) -> typer.Typer:
    for command in application.registered_commands:
        command.help = joined_lines(inspect.getdoc(command.callback) or "")
    return application


def _not_loaded() -> None:
    """A command that was not typed is never run."""


def main(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = copy_context().run(app, arguments, standalone_mode=False)  # what it sets is its own
    except typer.Exit as stop:
        code = stop.exit_code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - Python exits 1 after a crash: here that means "worse"
        line = missing_extra(error) if isinstance(error, ModuleNotFoundError) else None
        return _failed(ConfigurationError(line) if line else error)
    if code == EXIT_INTERRUPTED:  # typer turns Ctrl-C into this code, and says nothing
        return _interrupted()
    return code if isinstance(code, int) else 0


def _failed(error: BaseException) -> int:
    """One line about what went wrong, and the exit code that means it."""
    match error:
        case typer.TyperException():
            if error.format_message():  # empty where only the help was asked for
                _complain(error.format_message())
            return EXIT_USAGE
        case EvalsError():
            _complain(str(error))
            return error.exit_code
        case OSError(strerror=str(cause), filename=place) if place is not None:  # a full disk, a locked folder
            _complain(f"{place}: {cause}; see to that, then run it again")
            return EXIT_CANNOT_JUDGE
        case OSError(errno=number, strerror=str(cause)) if number in REMEDIES:  # the same, of a stream or a cache
            _complain(f"something cannot be written ({cause}); {REMEDIES[number]}, then run it again")
            return EXIT_CANNOT_JUDGE
        case _ if _is_an_interrupt(error):
            return _interrupted()
    _complain(f"a bug of ours: {type(error).__name__}: {error}; nothing was judged (EVALS_DEBUG=1 shows where)")
    if os.environ.get("EVALS_DEBUG"):
        traceback.print_exception(error)
    return EXIT_CANNOT_JUDGE


def _is_an_interrupt(error: BaseException) -> bool:
    """Ctrl-C, also where it met a serializer: of what that raised pydantic's error has the name only.

    Python 3.11 raises a RuntimeError from what interrupts `__set_name__`, as when a dataclass is made."""
    found = isinstance(error, KeyboardInterrupt | typer.Abort) or isinstance(error.__cause__, KeyboardInterrupt)
    return found or KeyboardInterrupt.__name__ in str(error)


def _interrupted() -> int:
    _complain("interrupted; what was finished is kept, run the same command to go on")
    return EXIT_INTERRUPTED


def _complain(message: str) -> None:
    VisibleConsole(stderr=True, soft_wrap=True).print(f"evals: {message}", style="red", markup=False, highlight=False)

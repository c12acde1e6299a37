"""Command lines in the spelling of version 0.2, and options that go with every command."""

import pytest
from typer.main import get_command

from evals.cli.deprecated_syntax import _OLD_COMMANDS, _OLD_OPTIONS, renewed, split
from evals.cli.main import all_commands, command_line, main

OLD = {
    "run s --samples 3": "run s --repeat 3",
    "run s --guards none --max-iterations=4": "run s --set guards=none --set max_iterations=4",
    "run s --case c --root there": "--root there run s --case c",
    "merge a.json b.json --out r": "gate --shards a.json b.json --out r",
    "gate --alpha 0.01": "gate --set alpha=0.01",
    "frame": "report --out trials.csv",
    "frame run.json --out a.parquet --decisions": "report --out trials.csv run.json --out a.parquet --decisions",
    "judge check --json": "judge --json",
    "judge plan --jobs 2": "--jobs 2 plan --judge judged",
    "judge record mine --keep-invalid --rounds d": "record --judge mine --set keep_invalid=yes --export d",
    "record s --timeout 9 --model m": "record s --set timeout=9 --set model=m",
    "drift s --seed 1 --precision 0.2 --shards 2": "drift s --set seed=1 --set precision=0.2 --set shards=2",
    "cassette status": "cassette show",
    "cassette status --json prompts": "cassette show --suite prompts --json",
    "cassette diff HEAD~1 c": "cassette show --against HEAD~1 c",
    "cassette diff -- -x c": "cassette show --against -x -- c",
    "cassette text f.yaml": "cassette show --plain f.yaml",
    "cassette manifest --dataset released": "--dataset released cassette tidy",
    "cassette prune --yes": "cassette tidy --unused --yes",
    "dataset list": "dataset show",
    "dataset harvest c --variant v5 --suite s": "dataset show --states v3 c --states v5 --suite s",
    "dataset disputes a.json --json": "dataset lint --disputes a.json --json",
    "dataset new c --from-job j --jobs f": "dataset new c --from-job j --job-store f",
    "langsmith push-dataset --dry-run": "langsmith push cases --dry-run",
    "langsmith push-run r.json --messages": "langsmith push r.json",
}
TODAY = (
    "run s --jobs 2",
    "--root there run s",
    "cassette merge a b c d",
    "dataset show c --gold",
    "record s -- --model",
)


@pytest.mark.parametrize(("old", "now"), OLD.items(), ids=OLD)
def test_an_old_command_line_is_read_as_todays(old, now):
    assert renewed(old.split()) == now.split()


@pytest.mark.parametrize("line", TODAY)
def test_a_command_line_of_today_keeps_its_words(line):
    front, rest = split(line.split())

    assert renewed(line.split()) == [*front, *rest]


def test_an_old_command_line_works_and_says_in_one_line_what_to_write(capsys):
    assert main(["dataset", "schema"]) == 0
    said = capsys.readouterr()

    assert said.err == "evals: write `evals schema case`; the old spelling is accepted until version 0.4\n"
    assert said.out.startswith("{")


def test_an_option_of_every_command_stands_before_or_behind_it(capsys):
    assert main(["--jobs", "1", "dataset", "show"]) == main(["dataset", "show", "--jobs=1"]) == 0
    assert capsys.readouterr().err == ""


def test_a_command_refuses_another_dataset_where_it_reads_none(capsys):
    assert main(["schema", "--dataset", "released"]) == 2
    assert "--dataset" in capsys.readouterr().err


def test_every_old_spelling_leads_to_a_command_and_options_that_exist():
    whole = get_command(command_line(all_commands(), *all_commands()))
    lines = [each.words for each in _OLD_COMMANDS.values()]
    lines += [f"{command} {now}" for commands, _, now in _OLD_OPTIONS for command in commands]
    for line in lines:
        command, words = whole, line.split()
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        known = {option for param in command.params for option in param.opts}
        assert {word for word in words if word.startswith("--")} <= known, line

"""Readers of other tools' result files: promptfoo, Inspect, DeepEval, pydantic-evals, LangSmith, and plain tables."""

import csv
import hashlib
import json
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from evals.errors import ConfigurationError
from evals.models.metrics import LARGEST

PASS: Final = "pass"  # noqa: S105 - no password
"""The metric for the tool's own verdict on a case: 1 if all its checks passed, else 0."""
LONGEST: Final = 40
"""Characters of a case's text that its name has, where the tool does not name it."""


@dataclass(frozen=True)
class Result:
    """One answer with its values: metric -> value. `error` says why there are none; `identity` tells cases of one name
    apart, and is the text where the tool has no other. `sample` is None where the tool does not number repeats."""

    case: str
    variant: str
    values: dict[str, float] = field(default_factory=dict)
    sample: int | None = None
    text: str = ""
    expected: str = ""
    output: str = ""
    error: str = ""
    identity: str = ""

    @property
    def key(self) -> str:
        """What is the same for the same case, and for no other."""
        return self.identity or self.text


@dataclass(frozen=True)
class Results:
    """The results of a file, in its order, with repeats numbered from 0 and cases named apart."""

    tool: str
    results: tuple[Result, ...]

    @classmethod
    def of(cls, tool: str, found: Iterable[Result]) -> "Results":
        """The results of a file.

        Raises:
            ConfigurationError: there are none, one is too large, or a repeat is there twice.
        """
        rows = list(found)
        if not any(row.values for row in rows):
            raise ConfigurationError(f"holds no values ({tool}); is it the right file?")
        for row in rows:
            if large := {name: value for name, value in row.values.items() if abs(value) > LARGEST}:
                name, value = next(iter(large.items()))
                told = f"{name} of {row.case} under {row.variant} is {value:g}, beyond {LARGEST:g}"
                raise ConfigurationError(f"{told}; correct it, or leave it out")
        keys: dict[str, set[str]] = {}
        for row in rows:
            keys.setdefault(row.case, set()).add(row.key)
        repeats: Counter[tuple[str, str]] = Counter()
        named = []
        for row in rows:
            case = row.case if len(keys[row.case]) == 1 else f"{row.case} #{_digest(row.key)}"
            number = row.sample
            if number is None:
                number, repeats[case, row.variant] = repeats[case, row.variant], repeats[case, row.variant] + 1
            named.append(replace(row, case=case, sample=number))
        often = Counter((row.case, row.variant, row.sample) for row in named)
        if twice := [where for where, times in often.items() if times > 1]:
            case, variant, number = twice[0]
            raise ConfigurationError(f"repeat {number} of {case} under {variant} is there more than once")
        return cls(tool, tuple(named))

    @property
    def variants(self) -> Sequence[str]:
        """Their names, in order of the file."""
        return list(dict.fromkeys(result.variant for result in self.results))

    @property
    def metrics(self) -> dict[str, tuple[float, float]]:
        """Metric -> its lowest and highest value."""
        found: dict[str, tuple[float, float]] = {}
        for name, value in (item for result in self.results for item in result.values.items()):
            low, high = found.get(name, (value, value))
            found[name] = min(low, value), max(high, value)
        return found


def case_name(text: str, name: object = None) -> str:
    """The name that the tool gives a case, else the beginning of its text."""
    plain = " ".join(text.split())
    return str(name or "") or (plain if len(plain) <= LONGEST else f"{plain[:LONGEST]} #{_digest(plain)}") or "case"


def digest_of_case(result: Result) -> str:
    """Of the case's text and expected answer, so that a changed case is seen; empty where the file has neither."""
    return _digest(f"{result.text}\n{result.expected}") if result.text or result.expected else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def as_number(value: object) -> float | None:
    """A number, a truth value, or the text of one; None for anything else."""
    if isinstance(value, str):
        value = {"true": 1, "false": 0}.get(value.strip().lower(), value)
    try:
        found = float(value)  # type: ignore[arg-type]  # what does not fit is None
    except (TypeError, ValueError):
        return None
    return found if abs(found) < float("inf") else None


Json = Any  # a file of another tool: every member is looked at before it is used
KNOWN: Final = (
    "promptfoo (JSON), Inspect (.eval, JSON), DeepEval (JSON), pydantic-evals (JSON), LangSmith (CSV, JSON), "
    "or a table with the columns case, metric and value (CSV, JSONL)"
)
_ZSTD: Final = 93
"""Compression method of a ZIP archive that Python before 3.14 does not know."""


def read_results(path: Path) -> Results:
    """The results in a file, whose format is told by its content.

    Raises:
        ConfigurationError: the file cannot be read, is of no known format, or holds no values.
    """
    try:
        content = _inspect_archive(path) if zipfile.is_zipfile(path) else _content(path)
        for tool, is_of, read in READERS:
            if is_of(content):
                return Results.of(tool, read(content, path.stem))
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        cause = f"{type(error).__name__}: {error}"
        raise ConfigurationError(f"{path}: not whole, or of a version that is not known ({cause})") from error
    raise ConfigurationError(f"{path}: no format that is known; known are {KNOWN}")


def _content(path: Path) -> Json:
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".csv":
        return list(csv.DictReader(text.splitlines(keepends=True)))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return json.loads(text)


def _inspect_archive(path: Path) -> Json:
    """A log in Inspect's `.eval` format as its JSON format has it."""
    with zipfile.ZipFile(path) as archive:
        header = json.loads(_member(archive, "header.json"))
        names = sorted(name for name in archive.namelist() if name.startswith("samples/"))
        return {**header, "samples": [json.loads(_member(archive, name)) for name in names]}


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != _ZSTD:
        return archive.read(name)
    try:
        import zstandard  # noqa: PLC0415 - only such a log needs it
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "compressed with zstd; `pip install zstandard`, or write JSON with `inspect log dump`"
        ) from error
    with Path(archive.filename or "").open("rb") as file:
        file.seek(info.header_offset + 26)
        name_length, extra_length = struct.unpack("<HH", file.read(4))
        file.seek(name_length + extra_length, 1)
        return zstandard.ZstdDecompressor().decompressobj().decompress(file.read(info.compress_size))


def _has(*members: str) -> Callable[[Json], bool]:
    return lambda content: isinstance(content, dict) and all(member in content for member in members)


def _rows_with(*columns: str) -> Callable[[Json], bool]:
    """Whether it is a list of rows whose first has each of the columns, or one that begins with it and a dot."""

    def is_of(content: Json) -> bool:
        if not isinstance(content, list) or not content or not isinstance(content[0], dict):
            return False
        return all(any(name == column or name.startswith(f"{column}.") for name in content[0]) for column in columns)

    return is_of


def _promptfoo(content: Json, _stem: str) -> Iterator[Result]:
    """A variant is a provider, with its prompt where a provider has several."""
    rows = sorted(content["results"]["results"], key=lambda row: (row["testIdx"], row["promptIdx"]))
    names = {row["promptIdx"]: _provider(row["provider"]) for row in rows}
    for row in rows:
        name, test = names[row["promptIdx"]], row["testCase"]
        if list(names.values()).count(name) > 1:
            name += f" {case_name(row['prompt'].get('label') or row['prompt']['raw'])}"
        text = (row["vars"], test.get("assert"), (row.get("response") or {}).get("output"))
        values = {PASS: row["success"], "score": row["score"], **(row.get("namedScores") or {})}
        failed = row.get("failureReason") == _PROMPTFOO_ERROR
        yield _result(test.get("description"), name, values, text, (row.get("error") or "failed") if failed else "")


_PROMPTFOO_ERROR: Final = 2
"""The failure reason of a case that raised; 1 is a check that did not hold."""


def _provider(told: Json) -> str:
    return str(told if isinstance(told, str) else told.get("label") or told["id"])


_GRADES: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partially correct, incorrect, no answer: as Inspect counts them."""


def _inspect(content: Json, _stem: str) -> Iterator[Result]:
    """The variant is the model, with the arguments of the task; a score of several values is several metrics."""
    if content.get("status") != "success":
        raise ConfigurationError(f"the log's status is {content.get('status')}, so that samples are missing")
    arguments = ", ".join(f"{name}={value}" for name, value in (content["eval"].get("task_args") or {}).items())
    for sample in content["samples"]:
        values: dict[str, object] = {}
        for name, score in (sample.get("scores") or {}).items():
            value = score["value"]
            parts = value if isinstance(value, dict) else {"": value}
            values |= {f"{name}.{part}".rstrip("."): _GRADES.get(str(each), each) for part, each in parts.items()}
        text = (sample["input"], sample.get("target"), (sample.get("output") or {}).get("completion"))
        error = (sample.get("error") or {}).get("message", "")
        name = f"{content['eval']['model']} {arguments}".strip()
        yield _result(sample["id"], name, values, text, error, sample["epoch"] - 1)


def _deepeval(content: Json, stem: str) -> Iterator[Result]:
    run = content.get("testRunData", content)
    for case in (*run.get("testCases", ()), *run.get("conversationalTestCases", ())):
        metrics = case.get("metricsData") or ()
        values = {PASS: case["success"], **{metric["name"]: metric.get("score") for metric in metrics}}
        text = (case.get("input") or case.get("turns"), case.get("expectedOutput"), case.get("actualOutput"))
        error = next((metric["error"] for metric in metrics if metric.get("error")), "")
        yield _result(case.get("name"), stem, values, text, error)


def _pydantic(content: Json, _stem: str) -> Iterator[Result]:
    """Assertions count as 1 and 0; `pass` is 1 where all of a case hold."""
    for case in (*content["cases"], *content["failures"]):
        checks, scores = (
            {name: each["value"] for name, each in (case.get(kind) or {}).items()} for kind in ("assertions", "scores")
        )
        values = {**({PASS: all(checks.values())} if checks else {}), **checks, **scores}
        text = (case["inputs"], case.get("expected_output"), case.get("output"))
        broken = [f"{each['name']}: {each['error_message']}" for each in case.get("evaluator_failures") or ()]
        error = case.get("error_message") or "; ".join(broken)
        yield _result(case.get("source_case_name") or case["name"], content["name"], values, text, error)


def _langsmith(content: Json, stem: str) -> Iterator[Result]:
    """Columns as `ExperimentResults.to_pandas` names them: `inputs.x`, `outputs.x`, `reference.x`, `feedback.x`."""
    for row in content:
        inputs, expected, output, values = (
            {name.removeprefix(f"{column}."): value for name, value in row.items() if name.startswith(f"{column}.")}
            for column in ("inputs", "reference", "outputs", "feedback")
        )
        identity = str(row.get("example_id") or "")
        yield replace(_result("", stem, values, (inputs, expected, output), row.get("error")), identity=identity)


def _table(content: Json, stem: str) -> Iterator[Result]:
    """Rows of one metric each: `case`, `metric`, `value`, and where they are there `variant`, `sample`, `input`,
    `expected`, `output` and `error`."""
    found: dict[tuple[str, str, str], list[Mapping[str, object]]] = {}
    for row in content:
        place = str(row["case"]), str(row.get("variant") or stem), str(row.get("sample") or "0")
        found.setdefault(place, []).append(row)
    samples = sorted({sample for _, _, sample in found}, key=lambda name: (len(name), name))
    for (case, variant, sample), rows in found.items():
        error, *text = (_first(rows, column) for column in ("error", "input", "expected", "output"))
        values = {str(row["metric"]): row["value"] for row in rows}
        if len(values) < len(rows):
            raise ConfigurationError(
                f"a value of {case} under {variant} is there twice; a column `sample` counts repeats"
            )
        if not error and (wrong := [name for name, value in values.items() if as_number(value) is None]):
            raise ConfigurationError(f"{wrong[0]} of {case} under {variant} is no number")
        yield replace(_result(case, variant, values, text, error, samples.index(sample)), identity=case)


def _result(
    name: object,
    variant: str,
    values: Mapping[str, object],
    texts: Sequence[object],
    error: object,
    sample: int | None = None,
) -> Result:
    """A result as it is read; `texts` are the case's input, the expected answer and the output. What is no number is no
    value, and an answer with an error has none."""
    text, expected, output = map(_text, texts)
    told = str(error or "").strip().partition("\n")[0][:200]
    numbers = {metric: number for metric, value in values.items() if (number := as_number(value)) is not None}
    return Result(case_name(text, name), variant, {} if told else numbers, sample, text, expected, output, told)


def _first(rows: Sequence[Mapping[str, object]], column: str) -> str:
    return next((str(row[column]) for row in rows if row.get(column)), "")


def _text(value: object) -> str:
    """A text as it is, the only member of an object as that, and all else as JSON; empty for nothing."""
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    if isinstance(value, str) or value is None:
        return value or ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


Reader = Callable[[Json, str], Iterable[Result]]
READERS: Final[Sequence[tuple[str, Callable[[Json], bool], Reader]]] = (
    ("promptfoo", _has("evalId", "results"), _promptfoo),
    ("Inspect", _has("eval", "samples"), _inspect),
    ("DeepEval", _has("testCases"), _deepeval),
    ("DeepEval", _has("testRunData"), _deepeval),
    ("pydantic-evals", _has("cases", "failures"), _pydantic),
    ("LangSmith", _rows_with("inputs", "feedback"), _langsmith),
    ("another runner", _rows_with("case", "metric", "value"), _table),
)
"""Tool, what its files have, and their reader; the first that fits reads."""

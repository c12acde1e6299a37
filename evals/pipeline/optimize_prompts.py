"""Optimise prompts with GEPA on the split `tune`, and compare the candidates it accepts on the split `gate`.

A look is one such comparison with the reference on the gate cases.
"""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import httpx

from evals.cassettes.live_answer import HttpReply, unreachable, usable
from evals.cassettes.player import IncomingRequest
from evals.comparison.curtailment import is_missing
from evals.comparison.gate import comparison_sentence
from evals.comparison.metric_summaries import Material, case_means
from evals.content_cache import digest_of
from evals.errors import CannotJudgeError, ConfigurationError, RecordingError
from evals.models.case import Case
from evals.models.run import Comparison, Run, Scope
from evals.paths import path_of_user
from evals.pipeline.compare_variants import Operand, ad_hoc
from evals.pipeline.decide_run import compare, decide, decide_scored, score
from evals.pipeline.load_suite import HERE, UNCHANGED, loaded, open_holdout, read_openings, selected
from evals.pipeline.run_suite import replay
from evals.recording.endpoint import Endpoint
from evals.run_context import RunContext
from evals.runner.trials import Trials
from evals.secret_filter import scan
from evals.shared.command_lifecycle import missing_from
from evals.shared.display_text import counted
from evals.shared.secrets.rule import hold

Texts = dict[str, str]
"""Name of a prompt -> its text."""
Examples = dict[str, list[dict[str, Any]]]
"""Name of a prompt -> trials with it: `Case`, `Inputs`, `Generated Outputs`, `Feedback`, `Labels`."""
Propose = Callable[[Texts, Examples, list[str]], Texts]
"""(texts so far, examples, names of the prompts to change) -> their new texts."""
LOOKS: Final = "# What `evals.optimize` compared on gate cases; each look lowers the alpha of the next one.\n"
Status = Literal["better", "not shown to be better", "worse", "no difference", "cannot judge"]
SPLITS: Final = ("tune", "gate")
_RECORDED: Final = "not recorded before)"
"""The end of each line of `evals record` about a trial that is recorded."""
_SOME: Final = " not recorded; see above"
"""In the last line of `evals record` where it came to its end."""
TEMPLATE: Final = """Improve this prompt of an agent:
```
<curr_param>
```
Trials of the agent with it, and how they were graded:
<side_info>
Use what the trials have in common; name no single case. Keep a header between `---` lines, all headings and all
placeholders in braces. Write the whole new prompt between ``` lines."""


@dataclass(frozen=True)
class Candidate:
    """The seed, or a prompt that GEPA accepted. `tune`: mean of the primary metrics over the tune cases, 0 to 1; a case
    that lacks answers counts 0. `run`: the comparison with the reference on the gate cases."""

    name: str
    texts: Texts
    tune: float
    status: Status
    why: str
    run: Run | None = None
    look: int | None = None
    alpha: float | None = None


@dataclass(frozen=True)
class Optimized:
    """What an optimisation found: candidates, best on tune first; cases and distinct model answers of tune and gate;
    looks that were counted before; what of the suite was held out; `failure`: why not everything was recorded."""

    reference: str
    candidates: tuple[Candidate, ...]
    cases: Mapping[str, int]
    answers: Mapping[str, int]
    looks_before: int
    scope: Scope
    failure: str = ""

    @property
    def best(self) -> Candidate | None:
        """Of the candidates shown to be better on gate, the best on tune; None where there is none."""
        return next((one for one in self.candidates if one.status == "better"), None)

    def __str__(self) -> str:
        best = f"{self.best.name} is better" if self.best else "No candidate is shown to be better"
        said = [f"{best} than {self.reference}."]
        for one in self.candidates:
            look = f" (look {one.look}, alpha {one.alpha:.2g})" if one.look else ""
            said.append(f"  {one.name}: tune {one.tune * 100:.1f}; gate: {one.status}{look}")
            said += textwrap.wrap(one.why, 80, initial_indent="    ", subsequent_indent="    ")
        said += [
            f"{name}: {counted(n, 'case')}, {counted(self.answers[name], 'answer')}" for name, n in self.cases.items()
        ]
        new = sum((one.look or 0) > self.looks_before for one in self.candidates)
        said.append(f"looks (comparisons on gate): {self.looks_before} before, {new} new")
        said += textwrap.wrap(f"Not everything was recorded: {self.failure}", 80) if self.failure else []
        held = counted(len(self.scope.sealed), "case")
        return "\n".join([*said, f"holdout: {held} not run, opened {counted(self.scope.openings, 'time')} so far"])


def optimize(
    prompts: Mapping[str, Path | str],
    suite: Path | str = "prompts",
    root: Path | str = HERE,
    *,
    propose: Propose | None = None,
    base_url: str | None = None,
    budget: int = 2000,
    proposals: int = 20,
    batch: int = 6,
    looks_file: Path | str | None = None,
    jobs: int = 1,
) -> Optimized:
    """Have GEPA change prompts on the tune cases, and compare what it accepts with the suite's reference on the gate
    cases. GEPA sees no gate case, and held-out cases are not run.

    Args:
        prompts: name of a prompt, as in `prompts:` of a variant -> the file with the text to start from.
        suite: whose cases, models, reference and gate policy to use.
        root: the checkout.
        propose: writes new texts; if not given, the suite's default model at `base_url` does.
        base_url: an OpenAI-compatible endpoint, asked for what is not recorded (a target asks its own) with the key in
            OPENAI_API_KEY. None: recorded answers only.
        budget: most model answers used on tune cases, recorded or new.
        proposals: most proposals.
        batch: tune cases on which a proposal has to beat its parent.
        looks_file: where looks are counted; `gate_looks.yaml` beside the cases if not given.
        jobs: worker processes of a replay.

    Raises:
        ConfigurationError: the extra `gepa` is missing, or an argument is wrong.
        CannotJudgeError: no case is in the split `tune`, or none in `gate`.
        RecordingError: the endpoint gives no usable answer.
    """
    if needed := missing_from("gepa"):
        raise ConfigurationError(needed)
    if not prompts or min(budget, proposals, batch) < 1:
        raise ConfigurationError("optimize: name a prompt; budget, proposals and batch start at 1")
    if propose is None and base_url is None:
        raise ConfigurationError("optimize needs propose=FUNCTION or base_url=URL")
    if missing := [path for path in prompts.values() if not path_of_user(path, "prompts").is_file()]:
        raise ConfigurationError(f"{missing[0]}: no such prompt file")
    texts = {name: Path(path).read_text(encoding="utf-8") for name, path in prompts.items()}
    today, place = datetime.now(UTC).date(), path_of_user(root, "root")
    context = loaded(selected(str(suite), place, UNCHANGED), today, own_baseline=False)
    context = replace(context, request=replace(context.request, jobs=jobs))
    cases = {split: [case for case in context.cases if case.known.split == split] for split in SPLITS}
    if empty := [split for split in SPLITS if not cases[split]]:
        raise CannotJudgeError(f"optimize: suite {context.suite.name} has no case in the split {empty[0]}")
    looks = path_of_user(looks_file or context.workspace.datasets / "gate_looks.yaml", "looks_file")
    before, search = len(read_openings(looks)), _Search(context, cases, propose, base_url, budget, proposals)
    accepted = search.run(texts, batch)
    found = tuple(search.confirmed(each, tune, looks, today) for each, tune in accepted)
    sizes, answers = ({split: len(each[split]) for split in SPLITS} for each in (cases, search.asked))
    return Optimized(context.suite.reference, found, sizes, answers, before, context.scope, search.failure)


def count_look(path: Path, suite: str, compared: str, day: date) -> int:
    """The number of this look at the gate cases, from 1; the same comparison keeps its number. Raises
    DatasetError where the count cannot be read."""
    known = [each.why for each in read_openings(path)]
    return known.index(compared) + 1 if compared in known else open_holdout(path, suite, compared, day, LOOKS)


def look_alpha(alpha: float, look: int) -> float:
    """The significance level of a look. Over all looks it adds up to alpha, so the chance that any useless candidate is
    called better is at most alpha, however many there are (Bonferroni with unequal shares)."""
    return alpha / (look * (look + 1))


def gains(scored: Material, alpha: float) -> list[Comparison]:
    """The metrics in which the candidate is better at this significance level."""
    policy = scored.suite.gate.model_copy(update={"alpha": alpha})
    found = compare(replace(scored, suite=scored.suite.model_copy(update={"gate": policy})))
    return [item for item in found.comparisons if item.verdict == "improvement"]


def _name(texts: Texts) -> str:
    return f"candidate-{digest_of(json.dumps(texts, sort_keys=True).encode())[:8]}"


@dataclass
class _Search:
    """Runs candidates, and is the adapter that GEPA asks; see `gepa.core.adapter.GEPAAdapter`."""

    context: RunContext
    cases: Mapping[str, list[Case]]
    propose: Propose | None
    base_url: str | None
    budget: int
    proposals: int
    over: bool = False
    recorded: bool = False
    """Whether any tune case could be graded."""
    error: Exception | None = None
    failure: str = ""
    """Why the last recording that failed has not recorded everything."""
    known: set[str] = field(default_factory=set)
    """Digests of what looks like a secret in the texts to start from."""
    asked: dict[str, set[tuple[str, int, str]]] = field(default_factory=lambda: {split: set() for split in SPLITS})
    """Split -> answers used: case, repeat and request."""
    grades: dict[tuple[str, str], tuple[float, dict[str, Any]]] = field(default_factory=dict)
    """(candidate, tune case) -> its score, 0 to 1, and what a proposer is shown of it."""
    propose_new_texts: Any = None

    def run(self, texts: Texts, batch: int) -> list[tuple[Texts, float]]:
        """The seed and what GEPA accepts, with the mean on tune, best first. Raises what the proposer raises."""
        from gepa.api import optimize as search  # noqa: PLC0415 - an extra, as below

        hold(os.environ.get("OPENAI_API_KEY", ""))
        self.known = {each.sha256 for each in scan(texts)}
        self.versus(texts)  # a seed that is no prompt is an error, not a bad candidate
        seeded = self.evaluate(self.cases["tune"], texts)
        if not self.recorded:
            raise CannotJudgeError(f"optimize: no tune case ran to its end from here: {seeded.outputs[0]['Feedback']}")
        how: dict[str, Any] = {"adapter": self, "stop_callbacks": self.ended, "logger": self}
        if self.propose:
            how["custom_candidate_proposer"] = partial(self.kept_error, self.propose)
        else:
            how |= {"reflection_lm": partial(self.kept_error, self.ask), "reflection_prompt_template": TEMPLATE}
        found = search(texts, self.cases["tune"], reflection_minibatch_size=batch, **how)
        if self.error:
            raise self.error
        means = zip(found.candidates, found.val_aggregate_scores, strict=True)
        return sorted({_name(each): (each, mean) for each, mean in means}.values(), key=lambda each: -each[1])

    def log(self, message: str) -> None:
        """GEPA's log is not shown."""

    def ended(self, state: Any) -> bool:  # noqa: ANN401 - of GEPA
        """Whether GEPA is to stop."""
        used_up = self.over or len(self.asked["tune"]) >= self.budget
        return used_up or state.i + 1 >= self.proposals or self.error is not None

    def kept_error(self, function: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401 - as the function
        """What the function gives. GEPA goes on after an error of a proposer, so it is kept."""
        try:
            return self.fit_to_keep(function(*args))
        except Exception as error:
            self.error = error
            raise

    def fit_to_keep(self, made: object) -> object:
        """A proposal, which will be written to files. Raises RecordingError where it holds a secret that the texts to
        start from do not hold."""
        if found := [each.rule for each in scan(made) if each.sha256 not in self.known]:
            raise RecordingError(f"a proposal holds a secret ({found[0]}), so it is not kept; ask another proposer")
        return made

    def ask(self, prompt: str) -> str:
        """What the model answers that proposes. Raises RecordingError."""
        endpoint = Endpoint(str(self.base_url), os.environ.get("OPENAI_API_KEY", ""))
        body = {"model": self.context.suite.models.default, "messages": [{"role": "user", "content": prompt}]}
        asked = IncomingRequest("POST", "/v1/chat/completions", json.dumps(body).encode(), "the proposer")
        url, headers = endpoint.base_url + "/chat/completions", {"content-type": "application/json"}
        try:
            came = httpx.post(url, content=asked.body, headers=headers | endpoint.headers(), timeout=300)
            reply = HttpReply(came.status_code, came.headers.get("content-type", ""), came.content)
            return str(usable(asked, reply)["choices"][0]["message"]["content"])
        except (httpx.HTTPError, RecordingError) as error:
            cause = error if isinstance(error, RecordingError) else unreachable(asked, error, nobody_there=False)
            again = "start it again: answers that were recorded are not asked again"
            raise RecordingError(f"no proposal: {cause}; mend that, then {again}") from None

    def evaluate(self, batch: list[Case], candidate: Texts, **_: bool) -> Any:  # noqa: ANN401 - of GEPA, as the next
        """The grades of these cases; only those not known yet are run. A text that is no prompt is graded 0."""
        from gepa.core.adapter import EvaluationBatch  # noqa: PLC0415

        name = _name(candidate)
        left = [case for case in batch if (name, case.id) not in self.grades]
        try:
            if left:
                context = self.versus(candidate)
                run = decide(*self.replayed(replace(context, cases=left, variants=context.variants[1:]), "tune"))
                self.grades.update({(name, case.id): self.grade(case, run) for case in left})
        except ConfigurationError as error:
            self.grades.update({(name, case.id): (0.0, {"Case": case.id, "Feedback": str(error)}) for case in left})
        scores, examples = zip(*(self.grades[name, case.id] for case in batch), strict=True)
        return EvaluationBatch(list(examples), list(scores), list(examples))

    def make_reflective_dataset(self, _: Texts, evaluated: Any, names: list[str]) -> Examples:  # noqa: ANN401
        """What a proposer is shown."""
        return dict.fromkeys(names, evaluated.outputs)

    def grade(self, case: Case, run: Run) -> tuple[float, dict[str, Any]]:
        """The mean of the primary metrics, each a mean over repeats; 0 where not everything is recorded."""
        place, trials = self.context.workspace, [each for each in run.trials if each.trace.case_id == case.id]
        primary, trace = [info.name for info in run.scorers if info.primary], trials[0].trace
        values = {name: case_means(trials, run.candidate, name).get(case.id) for name in primary}
        known = [value for value in values.values() if value is not None]
        recorded = all(trial.trace.provenance.label == "exact" for trial in trials)
        self.recorded = self.recorded or recorded
        why = trace.error or "not all answers are recorded; give base_url, or a larger budget"
        return sum(known) / len(known) if known and recorded else 0.0, {
            "Case": case.id,
            "Inputs": place.pack.input_file(place.datasets, case.id).read_text(encoding="utf-8"),
            "Generated Outputs": json.dumps({"steps": trace.walked, "output": trace.output}),
            "Feedback": f"Metrics, 1 is best: {values}" if recorded else why,
            "Labels": place.pack.labels_file(place.datasets, case.id).read_text(encoding="utf-8"),
        }

    def versus(self, texts: Texts) -> RunContext:
        """The reference and the candidate with these texts. Raises ConfigurationError where one is no prompt."""
        suite, place = self.context.suite.model_copy(update={"judge": None}), self.context.workspace
        reference = next(one for one in suite.variants if one.name == suite.reference)
        changed: dict[str, Any] = {"name": _name(texts), "prompts": dict(reference.prompts)}
        for number, (name, text) in enumerate(texts.items()):
            file = place.cache / "prompts" / changed["name"] / f"{number}-{Path(name).stem}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            changed["prompts"][name] = os.path.relpath(file, place.pack.root)
        path = str(ad_hoc([Operand(reference), Operand(reference.model_copy(update=changed))], suite, place))
        return replace(selected(path, place.root, UNCHANGED), request=replace(self.context.request, suite=path))

    def replayed(self, context: RunContext, split: str) -> tuple[RunContext, Trials]:
        """Every trial of the context; where there is an endpoint, `evals record` asks for what is not recorded. Raises
        RecordingError where that gives no trial."""
        left, failed = self.budget - len(self.asked["tune"]), ""
        if self.base_url is not None and (split == "gate" or (left > 0 and not self.over)):
            place, words = context.workspace, [sys.executable, "-m", "evals", "record", context.request.suite]
            words += [word for info in context.variants for word in ("--variant", info.variant.name)]
            words += [word for case in context.cases for word in ("--case", case.id)]
            words += ["--root", str(place.root), "--jobs", str(self.context.request.jobs)]
            words += [] if place.pack.own_endpoint else ["--base-url", self.base_url]
            words += ["--max-requests", str(left)] if split == "tune" else []
            done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
            self.over = self.over or "--max-requests" in done.stderr
            told = [line for line in done.stderr.strip().splitlines() if not line.endswith(_RECORDED)]
            failed = "; ".join(told[-2:]) if done.returncode and not self.over else ""
            self.failure = failed or self.failure
        trials = replay(context)
        is_stopped = failed and _SOME not in failed  # a single trial that cannot be recorded counts 0
        if is_stopped or (failed and not any(each.provenance.label == "exact" for each in trials.traces)):
            self.error = RecordingError(failed)
            raise self.error
        self.asked[split] |= {(each.case_id, each.sample, key) for each in trials.traces for key in each.asked}
        return context, trials

    def confirmed(self, texts: Texts, tune: float, looks: Path, today: date) -> Candidate:
        """The candidate compared with the reference on the gate cases, at the significance level of this look."""
        found = partial(Candidate, _name(texts), texts, tune)
        context = replace(self.versus(texts), cases=self.cases["gate"])
        reference, own = ((info.prompt_digest, info.prompt_text) for info in context.variants)
        if own == reference:
            return found("no difference", f"It is the prompt of {self.context.suite.reference}.")
        context, trials = self.replayed(context, "gate")
        scored = score(context, trials)
        if missing := [trial for trial in scored.trials if is_missing(trial)]:
            counts = f"{len(missing)} of {len(scored.trials)} gate trials are not recorded"
            return found("cannot judge", f"{counts}, so nothing was compared and no look is counted.")
        compared = digest_of(*(trial.model_dump_json().encode() for trial in scored.trials))
        look = count_look(looks, self.context.suite.name, compared, today)
        alpha = look_alpha(context.suite.gate.alpha, look)
        run = decide_scored(context, trials, scored, compare(scored))
        if run.verdict.status != "not worse":
            status: Status = "worse" if run.verdict.status == "worse" else "cannot judge"
            return found(status, run.verdict.sentence, run, look, alpha)
        gained = gains(scored, alpha)
        shown = gained or [max(run.comparisons, key=lambda item: item.delta or 0)]
        why = "; ".join(comparison_sentence(item).partition(": ")[2] for item in shown)
        return found("better" if gained else "not shown to be better", why, run, look, alpha)

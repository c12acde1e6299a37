"""One question to a judge: the request it makes, and the schema its answer keeps to."""

import hashlib
from dataclasses import dataclass

from pydantic import BaseModel

from evals.llm_judge import show
from evals.llm_judge.prompt import JudgePrompt, Prompts
from evals.models.judge import Dossier, PairAnswer, RubricAnswer


@dataclass(frozen=True)
class Question:
    """What is asked about a case. `name` says about what, for people; `sample` of `samples` which answer is wanted."""

    case_id: str
    name: str
    prompt: JudgePrompt
    human: str
    schema: type[BaseModel]
    sample: int = 0
    samples: int = 1

    @property
    def place(self) -> str:
        """Where it stands among others that are handed out: by chance, but always the same. Whoever answers must not
        find a report beside its broken twin, or a question beside itself."""
        return hashlib.sha256(f"{self.sample} {self.human}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def rubric_question(case_id: str, name: str, dossier: Dossier, prompts: Prompts, *, second: bool = False) -> Question:
    """The five questions of the rubric, in one request; `second` asks for another answer to the same."""
    human = prompts.rubric.filled(show.sections(dossier))
    return Question(case_id, name, prompts.rubric, human, RubricAnswer, int(second), 1 + int(second))


def pair_question(case_id: str, name: str, first: Dossier, second: Dossier, prompts: Prompts) -> Question:
    """Which of two write-ups of one issue a maintainer would rather get, asked in this order."""
    values = {
        "issue": show.issue(first),
        "cause": show.cause(first),
        "first": show.write_up("First write-up", first.written),
        "second": show.write_up("Second write-up", second.written),
    }
    return Question(case_id, name, prompts.pair, prompts.pair.filled(values), PairAnswer)

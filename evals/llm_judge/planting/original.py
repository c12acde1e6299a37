"""A good recorded report, with what rules need to know to break it."""

from dataclasses import dataclass
from typing import Any, Final

from evals.llm_judge.dossier import dossier_of
from evals.llm_judge.planting.comment import comment_parts
from evals.models.case import Case
from evals.models.judge import Dossier, Written
from evals.models.trace import Trace
from evals.scorers.blame import blamed_rightly

_PARTS: Final = 4
"""Of a comment that rules can be applied to: what stands before its headings, and the three that it has."""


@dataclass(frozen=True)
class Original:
    """A report that blames the right file, or rightly none. `severity_right`: it has the labelled severity."""

    case_id: str
    cluster: str
    repository: str
    category: str
    severity_right: bool
    code_files: tuple[str, ...]
    dossier: Dossier

    @property
    def written(self) -> Written:
        """What was written."""
        return self.dossier.written

    @property
    def package(self) -> str:
        """The project's name."""
        return self.repository.rpartition("/")[2]

    @property
    def file(self) -> str | None:
        """The first file of the repository that the report names."""
        return next((path for path in self.written.files if path in self.code_files), None)

    def with_written(self, **changes: Any) -> Dossier:  # noqa: ANN401 - fields of `Written`
        """The dossier with some of what was written changed."""
        return self.dossier.model_copy(update={"written": self.written.model_copy(update=changes)})


def original_of(case: Case, trace: Trace) -> Original | None:
    """The report of a trial as an original; None where it is not good enough to be broken."""
    dossier = dossier_of(case, trace)
    if dossier is None or not blamed_rightly(case, trace) or len(comment_parts(dossier.written.comment)) < _PARTS:
        return None
    return Original(
        case_id=case.id,
        cluster=case.cluster,
        repository=case.repository,
        category=case.labels.category,
        severity_right=dossier.written.severity == case.labels.severity,
        code_files=tuple(path for path in trace.repository_files if path.endswith(".py") and "test" not in path),
        dossier=dossier,
    )

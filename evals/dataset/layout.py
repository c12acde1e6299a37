"""Where everything stands below the dataset's root folder.

<root>/codebases/<name>/                  a clean package with its tests, and codebase.yaml
<root>/holdout.yaml                       how often the held-out cases were looked at; need not exist
<root>/triage/policy.yaml                 what every good route has in common
<root>/triage/cases/<id>/case.yaml        the labels
<root>/triage/cases/<id>/issue.md         first line title, then the body
<root>/triage/cases/<id>/bug.patch        code bugs only: makes the clean codebase buggy
<root>/triage/cases/<id>/repro.py         code bugs only: fails with the patch, passes without
<root>/triage/suites/<id>.yaml            cases that were live jobs only: runs the case as the job ran
<root>/triage/notes/<id>.yaml             what people said of the case's trials in LangSmith; need not exist
<root>/web/<page>.md                      what the local search server can find
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The paths of one dataset."""

    root: Path

    @property
    def policy(self) -> Path:
        """The dataset-wide route policy."""
        return self.root / "triage" / "policy.yaml"

    @property
    def holdout(self) -> Path:
        """The count of looks at the held-out cases."""
        return self.root / "holdout.yaml"

    @property
    def cases(self) -> Path:
        """The folder with one folder per case."""
        return self.root / "triage" / "cases"

    @property
    def codebases(self) -> Path:
        """The folder with one folder per clean package."""
        return self.root / "codebases"

    @property
    def web(self) -> Path:
        """The pages the local search server serves."""
        return self.root / "web"

    def page(self, name: str) -> Path:
        """One page of the offline web."""
        return self.web / f"{name}.md"

    def labels(self, case_id: str) -> Path:
        """The labels of one case."""
        return self.cases / case_id / "case.yaml"

    def issue(self, case_id: str) -> Path:
        """The text of one issue."""
        return self.cases / case_id / "issue.md"

    def patch(self, case_id: str) -> Path:
        """What makes the clean codebase buggy; need not exist."""
        return self.cases / case_id / "bug.patch"

    def repro(self, case_id: str) -> Path:
        """What shows the bug; need not exist."""
        return self.cases / case_id / "repro.py"

    def suite(self, case_id: str) -> Path:
        """The suite that runs a case as its live job ran; need not exist."""
        return self.root / "triage" / "suites" / f"{case_id}.yaml"

    def notes(self, case_id: str) -> Path:
        """What people said of the case's trials; need not exist."""
        return self.root / "triage" / "notes" / f"{case_id}.yaml"

    def codebase(self, name: str) -> Path:
        """The clean package."""
        return self.codebases / name

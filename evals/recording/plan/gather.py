"""Collects what explains a suite's misses: cassettes, issues and prompt files, each read once."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from evals.cassette.nearest import texts_of
from evals.cassette.store import Cassette, Interaction, load
from evals.dataset.layout import Layout
from evals.errors import CassetteError
from evals.models.run import VariantInfo
from evals.models.trace import Miss, Trace
from evals.recording.plan.causes import Evidence, IssueText
from evals.recording.plan.estimate import Experience, experience_of
from evals.recording.plan.plan import Missed
from evals.recording.plan.upstream import Way, ways_of
from evals.subject.prompt_files import PromptFile, supervisor_files, worker_files
from evals.workspace import Workspace

_ENOUGH: Final = 12
"""Cassettes an estimate is made from; reading one takes a tenth of a second."""


class Gatherer:
    """Reads for one plan. `infos` are all variants of the suite, not only those that were asked about."""

    def __init__(self, workspace: Workspace, infos: Sequence[VariantInfo]) -> None:
        self._workspace = workspace
        self._infos = infos
        self._cassettes: dict[str, Cassette] = {}
        self._issues: dict[str, IssueText] = {}
        self._texts: dict[str, str] = {}
        self._walked: dict[str, set[Way]] = {}

    def missed(self, traces: Sequence[Trace]) -> list[Missed]:
        """Every miss of the traces with its cause."""
        for trace in traces:
            self._walked.setdefault(trace.case_id, set()).update(ways_of(trace))
        return [Missed.explained(evidence) for trace in traces for evidence in self._evidence(trace)]

    def experience(self, case_ids: Sequence[str]) -> Experience:
        """What recordings took: those of these cases first, then others of the checkout."""
        others = sorted(path.stem for path in self._workspace.cassettes.glob("*.yaml"))
        return experience_of(islice(self._readable(dict.fromkeys([*case_ids, *others])), _ENOUGH))

    def _readable(self, case_ids: Mapping[str, None]) -> Iterator[Cassette]:
        for case_id in case_ids:
            try:
                cassette = self._cassette(case_id)
            except CassetteError:
                continue  # its trials have failed, and said so
            if cassette.interactions:
                yield cassette

    def _evidence(self, trace: Trace) -> Iterator[Evidence]:
        asked = [(miss, False) for miss in trace.misses] + [(miss, True) for miss in trace.point_misses]
        for miss, frozen in asked:
            cassette = self._cassette(trace.case_id)
            yield Evidence(
                trace=trace,
                miss=miss,
                recorded=_recorded(cassette, miss),
                tape=self._text(trace.case_id),
                walked=frozenset(self._walked[trace.case_id]),
                frozen=frozen,
                issue=self._issue(trace.case_id),
                prompt=self._prompts.get(trace.variant),
                workers=self._workers,
                versions={file.digest: file for file in self._prompts.values()},
            )

    @cached_property
    def _prompts(self) -> dict[str, PromptFile]:
        return supervisor_files(self._infos, self._workspace.root)

    @cached_property
    def _workers(self) -> tuple[PromptFile, ...]:
        return worker_files(self._workspace.root)

    def _cassette(self, case_id: str) -> Cassette:
        if case_id not in self._cassettes:
            self._cassettes[case_id] = load(self._workspace.cassette(case_id))
        return self._cassettes[case_id]

    def _text(self, case_id: str) -> str:
        """All that was ever said in the case's recorded requests."""
        if case_id not in self._texts:
            requests = (found.request for found in self._cassette(case_id).interactions)
            self._texts[case_id] = "\n".join(text for request in requests for text in texts_of(request))
        return self._texts[case_id]

    def _issue(self, case_id: str) -> IssueText:
        if case_id not in self._issues:
            path = Layout(self._workspace.datasets).issue(case_id)
            root = self._workspace.root
            shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
            lines = path.read_text(encoding="utf-8").splitlines()
            self._issues[case_id] = IssueText(shown, (lines[0].removeprefix("# "), *lines[1:]) if lines else ())
        return self._issues[case_id]


def _recorded(cassette: Cassette, miss: Miss) -> Interaction | None:
    nearest = miss.nearest
    return next((found for found in cassette.interactions if nearest and found.key == nearest.key), None)

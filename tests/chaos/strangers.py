"""Text of strangers through every place where `triage` prints it, secrets in search queries, and requests from outside
to the agent service.
"""

import asyncio
import contextlib
import io
import json
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from evals.shared.secrets.rule import release
from tests.builders.desk import a_desk, triage_at
from tests.builders.endpoint import WORKER_REPLIES, a_team, a_toolbox
from tests.builders.github import a_github
from tests.builders.llm_server import answering
from tests.builders.search import SearchService, a_searching_model, a_searching_toolbox, some_results
from tests.builders.secret import PLANTED
from tests.chaos.row import Row
from triage.agent_server import BODY_LIMIT, Access, app, guarded
from triage.web_search_tool import SearchFailed, search_tool

JOBS: Final = 30
QUERIES: Final = 400
REQUESTS: Final = 400
UNSEEN: Final = (
    *(chr(code) for code in (*range(9), *range(11, 32), *range(0x7F, 0xA0))),
    *"\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff\u00ad\u034f\u3164\ufe01",
    *(chr(code) for code in (0xE0001, 0xE0041, 0xE0100)),
)
"""Characters that act unseen, or hide text; a tab and a line break are text."""
SEQUENCES: Final = ("\x1b[8m{}\x1b[0m", "\x1b]52;c;{}\x07", "\x9b31m{}", "\x1b]0;{}\x1b\\", "\u202e{}\u202c")


def rows(folder: Path, share: float, seed: int) -> list[Row]:
    """The three kinds of attack."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    return [
        _terminal(folder, dice, max(1, round(JOBS * share))),
        asyncio.run(_queries(dice, max(1, round(QUERIES * share)))),
        asyncio.run(_requests(dice, max(1, round(REQUESTS * share)))),
    ]


def unseen_text(dice: random.Random) -> str:
    """Words with unseen characters in them, some as whole sequences."""
    words = ["".join(dice.choices(string.ascii_lowercase, k=4)) for _ in range(4)]
    odd = [dice.choice(SEQUENCES).format(words[0]), words[1] + dice.choice(UNSEEN) + words[2], dice.choice(UNSEEN)]
    dice.shuffle(odd)
    return " ".join([words[3], *odd])


def raw_in(printed: str) -> int:
    """How many characters that act unseen were printed as they are."""
    return sum(printed.count(character) for character in UNSEEN)


def _terminal(folder: Path, dice: random.Random, jobs: int) -> Row:
    printed = [text for n in range(jobs) for text in _printed(folder / f"desk-{n}", dice)]
    what = "outputs of triage (run, resume, jobs, show, publish, errors) with a stranger's unseen character as it is"
    return Row(what, len(printed), sum(raw_in(text) > 0 for text in printed))


def _printed(folder: Path, dice: random.Random) -> Iterator[str]:
    """What each command prints of a job whose issue and whose model are a stranger's."""
    odd = {agent: _spoilt(reply, dice) for agent, reply in WORKER_REPLIES.items() if not agent.startswith("judge")}
    asks = dice.random() < 0.5

    def decide(context: str) -> str:
        answered = "\nA: " in context
        if asks and "[1] investigator" in context and not answered:
            return "human_input"
        seen = [name for name in ("investigator", "codebase_search", "critic") if f"] {name} (" not in context]
        return seen[0] if seen else "writer"

    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch, a_github() as host, triage_at(patch, answering(decide, **odd)) as desk:
        a_desk(folder, patch)
        triage, llm = desk
        patch.setenv("TRIAGE_BASE_URL", llm.base_url)
        patch.setenv("GITHUB_API_URL", host.url)
        title = unseen_text(dice).replace("\n", " ")
        Path("issue.json").write_text(json.dumps({"title": title, "body": unseen_text(dice), "url": host.issue}))
        said = ["--verbose"] if dice.random() < 0.5 else []
        begin = ["run", "--repo", "shop", "--issue", "issue.json", "--job-id", "one", *said]
        for words in (begin, ["jobs"], ["resume", "one"], ["jobs", "show", "one"], ["publish", "one"]):
            yield _said(lambda words=words: triage(*words, typed=""))
        yield _said(lambda: triage("run", "--repo", "shop", "--issue", unseen_text(dice).replace("\0", "")))
        yield _said(lambda: triage("jobs", "show", unseen_text(dice)))


def _spoilt(reply: Any, dice: random.Random) -> Any:
    """The reply, unseen characters in every text that may hold any."""
    if isinstance(reply, str):
        return f"{reply} {unseen_text(dice)}"
    free = ("summary", "reasoning", "hypothesis", "root_cause", "title", "affected_areas", "evidence", "next_steps")
    return {
        name: [unseen_text(dice)]
        if name in free and isinstance(value, list)
        else f"{value} {unseen_text(dice)}"
        if name in free
        else value
        for name, value in reply.items()
    }


def _said(run: Callable[[], object]) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run()
    release()
    return out.getvalue() + err.getvalue()


async def _queries(dice: random.Random, tries: int) -> Row:
    """A secret of a known kind amid words: the search service hears nothing of it."""
    kinds = [secret for rule, secret in PLANTED.items() if rule not in ("email", "high_entropy")]
    service = SearchService(some_results("a"))
    toolbox = a_searching_toolbox(a_searching_model({}), service)
    tool = search_tool(toolbox.settings, toolbox.clients)
    for _ in range(tries):
        words = [
            "".join(dice.choices(string.ascii_lowercase, k=dice.randint(2, 9))) for _ in range(dice.randint(0, 60))
        ]
        words.insert(dice.randint(0, len(words)), dice.choice(kinds))
        with contextlib.suppress(SearchFailed):
            await tool.ainvoke({"query": " ".join(words)})
    return Row("search queries with a secret that were sent", tries, len(service.asked))


async def _requests(dice: random.Random, tries: int) -> Row:
    """Requests that are wrong in one thing: no agent is asked."""
    team = a_team()
    word = "word-of-the-test"
    service = guarded(app(a_toolbox(team)), Access.to("10.0.0.5", word))
    good = {"host": "10.0.0.5", "authorization": f"Bearer {word}", "content-type": "application/json"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(service), base_url="http://10.0.0.5") as client:
        answered = 0
        for _ in range(tries):
            body = json.dumps({"input": {"issue_title": "t", "issue_body": "b"}})
            wrong = dict(good)
            match dice.randrange(5):
                case 0:
                    wrong["host"] = dice.choice(
                        ["evil.example", "10.0.0.5.evil.example", "10.0.0.50", "x@10.0.0.5", ""]
                    )
                case 1:
                    wrong["authorization"] = dice.choice(["", word, f"bearer{word}", f"Bearer {word[:-1]}", "Bearer "])
                case 2:
                    wrong["content-type"] = dice.choice(["text/plain", "application/jsonx", "multipart/form-data", ""])
                case 3:
                    body = json.dumps({"input": {"issue_title": "t", "issue_body": "b" * BODY_LIMIT}})
                case _:
                    chunks = dice.choice([-1, 0, 51, dice.randint(51, 10**9), -dice.randint(1, 10**9)])
                    body = json.dumps({"input": {"repository": "", "hypothesis": "h", "chunks": chunks}})
            agent = "codebase_search" if "chunks" in body else "investigator"
            answer = await client.post(f"/agents/{agent}/invoke", content=body, headers=wrong)
            answered += answer.is_success
    return Row("requests to the agent service that it should refuse, answered", tries, answered + len(team.asked))

"""Questions to the reporter of an issue: posted there as a comment, answered there by the reporter's next comment."""

import asyncio
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path

from triage.checkpoints import keep_post, kept_posts
from triage.errors import InputError
from triage.github_issues import GitHub, IssueAddress, api_url, github
from triage.publish_report import Posts, answer_to, post, question_of
from triage.settings import DEFAULT_JOBS
from triage.stored_jobs import begun, held, one_job


def ask_reporter(jobs: Path, name: str, issue_url: str | None, say: Callable[[str], None]) -> None:
    """Post the question the job waits at, unless it is there already; nothing where it waits for none.

    Raises:
        InputError: the job knows no issue, or the host refuses. HostError.
    """
    posts = asyncio.run(waiting_question(jobs, name, issue_url))
    if posts is None:
        return
    with held(jobs, name), github(say) as host:
        for line in post(host, posts, kept_posts(jobs, name), partial(keep_post, jobs, name)):
            say(line)
    words = ["triage", "resume", name, "--from-issue", *(["--jobs", str(jobs)] if jobs != DEFAULT_JOBS else [])]
    say(f"when the reporter has answered: {shlex.join([*words, *(['--issue-url', issue_url] if issue_url else [])])}")


def answer_on_issue(jobs: Path, name: str, issue_url: str | None, say: Callable[[str], None]) -> str | None:
    """The reporter's answer to the question the job waits at; None while there is none.

    Raises:
        InputError: the job waits for no answer, the question was not posted, or nobody can answer it. HostError.
    """
    posts = asyncio.run(waiting_question(jobs, name, issue_url))
    if posts is None:
        raise InputError(f"job {name!r} waits for no answer: leave --from-issue out to go on with it")
    with github(say) as host:
        return _answer(host, posts)


async def waiting_question(jobs: Path, name: str, issue_url: str | None) -> Posts | None:
    """The question the job waits at, as a comment; None where it waits for none."""
    job = await one_job(jobs, name)
    if job.waiting is None:
        return None
    url = issue_url or job.state.issue_url
    if not url:
        raise InputError(f"job {name!r} knows no address of its issue: give --issue-url")
    return question_of(IssueAddress.of(url, api_url()), name, await begun(jobs, name), job.waiting)


def _answer(host: GitHub, posts: Posts) -> str | None:
    reporter = host.reporter(posts.place)
    if reporter is None or reporter.is_bot:
        who = "a program" if reporter else "an account that is gone"
        raise InputError(f"the issue was opened by {who}, which answers nothing: give --answer TEXT to `triage run`")
    return answer_to(posts.mark, host.comments(posts.place), reporter)

"""The team's LLM workers: one file each, one line each here. (`human_input` asks a person, so it is no agent.)"""

from typing import Final

from triage.agents.agent import AnyAgent
from triage.agents.codebase_search import CODEBASE_SEARCH
from triage.agents.critic import CRITIC
from triage.agents.investigator import INVESTIGATOR
from triage.agents.web_search import WEB_SEARCH
from triage.agents.writer import WRITER
from triage.state import Worker

AGENTS: Final[dict[Worker, AnyAgent]] = {
    "investigator": INVESTIGATOR,
    "codebase_search": CODEBASE_SEARCH,
    "web_search": WEB_SEARCH,
    "critic": CRITIC,
    "writer": WRITER,
}

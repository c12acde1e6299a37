"""Support desk of Harbour Notes: a router sends a ticket to billing or to technical help, the customer confirms."""

from pathlib import Path
from typing import Literal, TypedDict

from langchain_core.runnables import RunnableConfig
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field

HERE = Path(__file__).parent
PROMPTS = HERE.parent / "prompts"
INCIDENTS = (HERE / "incidents.md").read_text(encoding="utf-8")
MONEY = ("refund", "credit", "cancel")
model = ChatOpenAI(model="claude", temperature=0)  # behind the gateway that OPENAI_BASE_URL names


class Ticket(TypedDict, total=False):
    """What is known of a ticket; `text` and `account` come from the help form."""

    text: str
    account: str
    queue: str
    action: str
    amount: float
    note: str
    customer_says: str
    reply: str


class Queue(BaseModel):
    """Where a ticket goes."""

    reason: str = Field(description="one sentence")
    queue: Literal["billing", "technical"]


class Proposal(BaseModel):
    """What a colleague proposes to do."""

    reason: str = Field(description="one or two sentences")
    action: Literal["refund", "credit", "cancel", "retry_payment", "export", "steps", "none"]
    amount: float = Field(description="euros that the customer gets back or is credited; 0 if none")
    note: str = Field(description="facts for the reply, in at most two sentences")


def prompt(name: str) -> str:
    """The text of a prompt file."""
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8")


def router(state: Ticket, config: RunnableConfig) -> Command[Literal["billing", "technical"]]:
    """Choose the queue."""
    version = config["configurable"].get("router", "v1")
    chosen = model.with_structured_output(Queue).invoke(
        [("system", prompt(f"router/{version}")), ("user", state["text"])]
    )
    return Command(goto=chosen.queue, update={"queue": chosen.queue})


def propose(name: str, facts: str) -> Ticket:
    """Ask one of the two colleagues for a proposal."""
    made = model.with_structured_output(Proposal).invoke([("system", prompt(name)), ("user", facts)])
    return {"action": made.action, "amount": made.amount, "note": made.note}


def billing(state: Ticket) -> Ticket:
    """Charges, refunds, plans; sees the account."""
    return propose("billing", f"Ticket:\n{state['text']}\n\nAccount:\n{state['account']}")


def technical(state: Ticket) -> Ticket:
    """Faults and data; sees the account and the incident log."""
    facts = f"Ticket:\n{state['text']}\n\nAccount:\n{state['account']}\n\nIncident log:\n{INCIDENTS}"
    return propose("technical", facts)


def confirm(state: Ticket) -> Ticket:
    """Let the customer confirm whatever moves money or ends a plan."""
    if state["action"] not in MONEY:
        return {"customer_says": ""}
    question = f"We would do this: {state['action']}, {state['amount']:.2f} euros. {state['note']} Shall we?"
    return {"customer_says": interrupt({"action": state["action"], "question": question})}


def reply(state: Ticket) -> Ticket:
    """Write to the customer."""
    facts = f"Ticket:\n{state['text']}\n\nProposal: {state['action']}, {state['amount']:.2f} euros. {state['note']}"
    if state["customer_says"]:
        facts += f"\n\nAsked to confirm, the customer said: {state['customer_says']}"
    return {"reply": model.invoke([("system", prompt("reply")), ("user", facts)]).content}


builder = StateGraph(Ticket)
for node in (router, billing, technical, confirm, reply):
    builder.add_node(node)
builder.add_edge(START, "router")
builder.add_edge("billing", "confirm")
builder.add_edge("technical", "confirm")
builder.add_edge("confirm", "reply")
builder.add_edge("reply", END)
graph = builder.compile()

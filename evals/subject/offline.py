"""What has to stand in the environment before LangGraph and LangSmith are imported; whoever imports them, imports this.

No tracing leaves this machine, and checkpoints keep their types.
"""

import os

os.environ.update(LANGSMITH_TRACING="false", LANGCHAIN_TRACING_V2="false", LANGGRAPH_STRICT_MSGPACK="true")

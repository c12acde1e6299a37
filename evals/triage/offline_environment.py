"""Environment of a replay: tracing off, placeholders for keys, and the switch to the plain path."""

import os
import warnings

os.environ.update(LANGSMITH_TRACING="false", LANGCHAIN_TRACING_V2="false", LANGGRAPH_STRICT_MSGPACK="true")
warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)

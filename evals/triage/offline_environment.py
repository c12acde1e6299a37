"""Environment of a replay: LangSmith tracing off, strict msgpack on, one warning of Pydantic hidden."""

import os
import warnings

os.environ.update(LANGSMITH_TRACING="false", LANGCHAIN_TRACING_V2="false", LANGGRAPH_STRICT_MSGPACK="true")
warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)

"""What has to stand in the environment before LangGraph and LangSmith are imported; whoever imports them, imports this.

No tracing leaves this machine, and checkpoints keep their types. And nothing is printed of an odd answer that is
recorded as it is: pydantic warns of each that is not as the SDK has it.
"""

import os
import warnings

os.environ.update(LANGSMITH_TRACING="false", LANGCHAIN_TRACING_V2="false", LANGGRAPH_STRICT_MSGPACK="true")
warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)

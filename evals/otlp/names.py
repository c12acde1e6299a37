"""What the attributes are called: those of the GenAI semantic conventions, and our own below `triage_evals.`.

The conventions' names are spelled here since the package that lists them announces that they move elsewhere; a test
holds each against what is installed. `gen_ai.system` is gone from them: `gen_ai.provider.name` took its place.
"""

from typing import Final

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
WORKFLOW: Final = "gen_ai.workflow.name"
AGENT: Final = "gen_ai.agent.name"
CONVERSATION: Final = "gen_ai.conversation.id"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
TOOL: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
SCORE: Final = "gen_ai.evaluation.name"
SCORE_VALUE: Final = "gen_ai.evaluation.score.value"
SCORE_LABEL: Final = "gen_ai.evaluation.score.label"
SCORE_WHY: Final = "gen_ai.evaluation.explanation"
SCORE_EVENT: Final = "gen_ai.evaluation.result"
ERROR_TYPE: Final = "error.type"
SERVICE: Final = "service.name"

OURS: Final = "triage_evals"
ERROR: Final = f"{OURS}.error"
TIMES: Final = f"{OURS}.times"
CALLS_ORDERED: Final = f"{OURS}.calls_ordered"
PLACED: Final = f"{OURS}.placed"

CHAT: Final = "chat"
EXECUTE_TOOL: Final = "execute_tool"
INVOKE_AGENT: Final = "invoke_agent"
INVOKE_WORKFLOW: Final = "invoke_workflow"

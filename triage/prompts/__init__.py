"""Prompts are files: a version of the supervisor is one Markdown file, so is every worker."""

from triage.prompts.load import SupervisorPrompt, load_agent_prompt, load_supervisor_prompt, parse_supervisor_prompt

__all__ = ["SupervisorPrompt", "load_agent_prompt", "load_supervisor_prompt", "parse_supervisor_prompt"]

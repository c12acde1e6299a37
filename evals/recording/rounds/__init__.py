"""Recording without an endpoint: requests go out as files, answers come back as files, round by round.

Files are in the format of OpenAI's Batch API. A round holds every request that can be asked now; the next one holds
what the trials ask after its answers.
"""

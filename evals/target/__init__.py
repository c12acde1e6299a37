"""Any LangGraph graph as a target: load it, run it on a case, and capture what it sends and calls.

Load from `langgraph.json` (`langgraph_json`), run (`drive`), HTTP from a cassette or recorded into one (`capture`,
`patches`, `bodies`), results of tools (`tools`), clock and random numbers (`clock`).
"""

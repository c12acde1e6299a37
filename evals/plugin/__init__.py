"""The pytest plugin: a suite as tests, and the graph on the tape in ordinary ones. All is loaded when used."""

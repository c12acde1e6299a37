"""Mutants of the core: one line each of gate, statistics, cassettes, secrets, routes, caches and capture is changed.

The table is also the measure of a smaller test suite: what it caught before tests were removed, it catches afterwards.
"""

from typing import Final

GATE, PAIRED = "evals/comparison/gate.py", "evals/statistics/paired_tests.py"
PAIRS = "evals/comparison/paired_comparison.py"
BASELINE, SECRETS = "evals/comparison/baseline.py", "evals/secret_filter.py"
KEY, CACHE, RULES = "evals/cassettes/request_key.py", "evals/runner/trial_cache.py", "evals/routes/constraints.py"
GATE_TESTS: Final = ("evals/comparison",)
STATISTICS_TESTS: Final = ("evals/statistics", "evals/comparison/test_comparison.py")
CASSETTE_TESTS: Final = ("evals/cassettes",)
SECRET_TESTS: Final = (
    "evals/secrets",
    "evals/cassettes/test_shapes_of_secrets.py",
    "evals/cassettes/test_cassette_files.py",
)
ROUTE_TESTS: Final = ("evals/routes", "evals/scoring")
RUNNER_TESTS: Final = ("evals/runner",)

# What is changed, where, the code as it stands, the code instead, and the tests below `tests/` that ought to notice.
CORE: Final = (
    ("low coverage is enough", GATE, "known / total < facts.policy.coverage_floor", "known < 0", GATE_TESTS),
    ("no exact trial is enough", GATE, "if mine.exact == 0:", "if mine.exact < 0:", GATE_TESTS),
    (
        "a lost metric is no reason",
        GATE,
        '    _rule_from("metric lost", lambda facts: facts.lost),\n',
        "",
        GATE_TESTS,
    ),
    (
        "models are not compared",
        GATE,
        '    _rule_from("different models", lambda facts: facts.models),\n',
        "",
        GATE_TESTS,
    ),
    (
        "a slice may collapse",
        GATE,
        '    _rule_from("slice collapsed", lambda facts: facts.collapsed),\n',
        "",
        GATE_TESTS,
    ),
    ("costs have no limit", GATE, "    regressions,\n    cost_limits,", "    regressions,", GATE_TESTS),
    ("gains are losses", PAIRED, "p_worse=at_least(lost,", "p_worse=at_least(gained,", STATISTICS_TESTS),
    ("no correction by Holm", PAIRED, "(len(p_values) - rank) * p_values", "1 * p_values", STATISTICS_TESTS),
    ("skewed grades are symmetric", PAIRED, "max(worse, hall(sums))", "worse", STATISTICS_TESTS),
    (
        "half of the power",
        "evals/statistics/paired_tests.py",
        "alpha=alpha) >= power",
        "alpha=alpha) >= power / 2",
        STATISTICS_TESTS,
    ),
    (
        "unknown pairs lose nothing",
        PAIRS,
        "return (known - rest) / len(states)",
        "return known / len(states)",
        GATE_TESTS,
    ),
    ("an edited baseline is trusted", BASELINE, "if not found.intact:", "if False:", GATE_TESTS),
    ("other scorers compare", BASELINE, "if baseline.scorers != now.scorers:", "if False:", GATE_TESTS),
    ("the path is not in the key", KEY, "{method.upper()} {url_path_and_query}", "{method.upper()}", CASSETTE_TESTS),
    ("a stream has the same key", KEY, '(name == "stream" and member is False)', 'name == "stream"', CASSETTE_TESTS),
    (
        "every repeat gets the first answer",
        "evals/cassettes/player.py",
        "exact(request.key, sample)",
        "exact(request.key, 0)",
        CASSETTE_TESTS,
    ),
    (
        "another file is as good",
        "evals/cassettes/manifest.py",
        "if replayed[name] not in due[name]",
        "if False",
        CASSETTE_TESTS,
    ),
    (
        "any spelling verifies",
        "evals/cassettes/manifest.py",
        "_spelling(path, rendered(cassette))",
        "[]",
        CASSETTE_TESTS,
    ),
    (
        "a failing endpoint is asked on",
        "evals/cassettes/recorder.py",
        "_FAILURES_IN_A_ROW: Final = 5",
        "_FAILURES_IN_A_ROW: Final = 999",
        CASSETTE_TESTS,
    ),
    ("names of members are not scanned", SECRETS, "yield path, str(name)\n", 'yield path, ""\n', SECRET_TESTS),
    (
        "the quick look skips named members",
        SECRETS,
        "texts |= {text for body in bodies for text in _named_members(body)}",
        "texts |= set()",
        SECRET_TESTS,
    ),
    (
        "one visit more is allowed",
        RULES,
        "most is not None and count > most:",
        "most is not None and count > most + 1:",
        ROUTE_TESTS,
    ),
    ("an unknown guard holds", RULES, "return None if found.activations else VACUOUS", "return VACUOUS", ROUTE_TESTS),
    ("a hard violation passes", "evals/routes/route_check.py", "not hard and fitness >=", "fitness >=", ROUTE_TESTS),
    (
        "failed trials are kept",
        CACHE,
        'if trace.provenance.label == "failed" or trace.live:',
        "if trace.live:",
        RUNNER_TESTS,
    ),
    ("changed packages are kept", CACHE, 'raise ChangedError(["installed packages"])', "return", RUNNER_TESTS),
    (
        "shards of another checkout merge",
        "evals/pipeline/sharded_run.py",
        "        if changed:\n",
        "        if False:\n",
        RUNNER_TESTS,
    ),
    (
        "a damaged entry is read",
        "evals/content_cache.py",
        "return content if stored == _seal(name, content) else None",
        "return content",
        RUNNER_TESTS,
    ),
    (
        "every host is asked",
        "evals/target/http_capture.py",
        '"live" if is_local(host) else "refuse"',
        '"live"',
        ("evals/target",),
    ),
    ("a suite's types are loose", "evals/suites/suite_files.py", "strict=True", "strict=False", ("evals/suites",)),
    (
        "a green run has failures",
        "evals/report/junit_xml.py",
        'if kind == "failure" and run.verdict.status == "not worse":',
        "if False:",
        ("evals/report",),
    ),
)

"""Plans are files: each is one YAML list of tasks, read and checked here."""

from triage.plans.plan_files import (
    MODES,
    Mode,
    edges,
    faults,
    given_plan,
    load_plan,
    may_reshape,
    parse_plan,
    plan_header,
    plan_path,
    shipped_plans,
    starts_from_a_plan,
)

__all__ = [
    "MODES",
    "Mode",
    "edges",
    "faults",
    "given_plan",
    "load_plan",
    "may_reshape",
    "parse_plan",
    "plan_header",
    "plan_path",
    "shipped_plans",
    "starts_from_a_plan",
]

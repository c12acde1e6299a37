"""`evals routes score`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from evals.application_pack import load_pack
from evals.errors import EXIT_OK
from evals.models.case import RouteReading, RouteScore, RouteSpec
from evals.project import Project
from evals.routes.constraints import RecordedRoute, load_routes, load_spec
from evals.routes.route_check import check, rules_of, why

routes = typer.Typer(help="Score routes against a specification.", no_args_is_help=True)


@routes.command("score")
def routes_score_command(
    spec: Annotated[Path, typer.Option(help="JSON: {name, node_caps, alternatives}.")],
    traces: Annotated[Path, typer.Option(help="JSON: a list of {visits, state}.")],
    why: Annotated[bool, typer.Option("--why", help="Add constraints' scores, and which one fails it alone.")] = False,
    table: Annotated[bool, typer.Option("--table", help="Constraints of each trace as a table, for people.")] = False,
) -> int:
    """Print F, P, E, A, H, hard, raw, R and pass of each trace, as a JSON list."""
    return score(spec, traces, explain=why, table=table)


def score(spec: Path, traces: Path, *, explain: bool = False, table: bool = False) -> int:
    """Print one JSON object per trace: {F, P, E, A, H, hard, raw, R, pass}, numbers to four decimals.

    `explain` adds `why`: what each rule of the alternative that counts came to. `table` prints the same for people.
    Raises `ConfigurationError` where a file cannot be used.
    """
    pack = load_pack(Project.at(Path()).pack)
    specification, routes = load_spec(spec, pack.node_caps, pack.last_node), load_routes(traces, pack.node_caps)
    scores = [check(specification, route.visits, route.state, route.supersteps) for route in routes]
    found = [why(specification, route.visits, route.state, route.supersteps) for route in routes]
    if table:
        _show(specification, routes, scores, found)
        return EXIT_OK
    rows: list[dict[str, Any]] = [_rounded(each) for each in scores]
    if explain:
        rows = [row | {"why": _told(specification, each)} for row, each in zip(rows, found, strict=True)]
    print(json.dumps(rows, indent=2, ensure_ascii=False))
    return EXIT_OK


def _rounded(score: RouteScore) -> dict[str, Any]:
    row = score.model_dump(by_alias=True, exclude={"unknown", "alternative"})
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()}


def _told(spec: RouteSpec, found: RouteReading) -> dict[str, Any]:
    """Constraints in order, each with its share (or `vacuous`, `unknown`), then the limits that the route is past."""
    rules = rules_of(spec.alternatives[found.alternative], spec.node_caps)
    lengths = rules[len(found.shares) :]
    shares = zip(rules, found.shares, strict=False)  # what is left over are the limits
    told = [*shares, *((rule, 0.0 if rule.id in found.breaks else 1.0) for rule in lengths)]
    return {
        "alternative": found.alternative,
        "rules": [
            rule._asdict()
            | {"share": round(share, 4) if isinstance(share, float) else share, "alone": rule.id in found.decides}
            for rule, share in told
        ],
        "read": found.read,
    }


def _show(
    spec: RouteSpec, routes: tuple[RecordedRoute, ...], scores: list[RouteScore], found: list[RouteReading]
) -> None:
    """A table per route, its verdict and the reason above."""
    from evals.cli.terminal import shown, wide_console
    from evals.report.view.page_parts import Table
    from evals.report.view.violations_table import figures, reason, rule_cells

    for number, (route, scored, each) in enumerate(zip(routes, scores, found, strict=True), 1):
        way = spec.alternatives[each.alternative]
        told = reason(each, way, spec.node_caps, passed=scored.passed) or "passes"
        rules = rules_of(way, spec.node_caps)
        of = f", alternative {each.alternative + 1} of {len(spec.alternatives)}" if len(spec.alternatives) > 1 else ""
        way_in_words = f"Route {number}{of}: {' '.join(route.visits) or 'no visit'}"
        caption = f"{way_in_words}. It {told}. {'; '.join(figures(each, scored.F))}"
        rows = zip(rules, rule_cells(each, rules), strict=True)
        cells = tuple((rule.id, rule.asks, rule.force, cell) for rule, cell in rows)
        wide_console().print(shown(Table(caption, ("rule", "asks", "weight", "fulfilled"), cells)))
